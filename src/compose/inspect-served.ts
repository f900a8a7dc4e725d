import type { ModuleDeclaration } from '../domain/module.ts';
import type { WorkerEntry } from '../ports/fleet-registry.ts';
import type { Check } from './check.ts';

type Published = Pick<ModuleDeclaration, 'id' | 'digest' | 'version' | 'pool' | 'tools'>;
type Worker = Pick<WorkerEntry, 'pool' | 'modules'>;

const NAMED = 5;

/**
 * Published tools that no living worker serves. A module without any worker is a ghost: agents see its tools, and every call of them
 * waits until its deadline. A module served only in other versions than the published one makes callers wait for the new one.
 */
export function inspectServed(published: readonly Published[], workers: readonly Worker[]): Check[] {
  const pinnedOnly = ({ tools }: Published): boolean =>
    tools.length > 0 && tools.every(({ pinned }) => pinned === 'caller');
  const served = published.filter((module) => !pinnedOnly(module));
  const ghosts = served.filter(({ id }) => !workers.some(({ modules }) => modules.some((module) => module.id === id)));
  const unserved = served.filter(
    (module) =>
      !ghosts.includes(module) &&
      !workers.some(({ modules }) => modules.some(({ digest }) => digest === module.digest)),
  );
  const checks: Check[] = [];
  if (ghosts.length > 0) {
    const tools = ghosts.flatMap((module) => module.tools.map(({ id }) => id));
    checks.push({
      name: 'ghost tools',
      // Without any worker this is what the check of the workers says.
      state: workers.length === 0 ? 'warn' : 'bad',
      found: `published, and no living worker serves them: ${some(tools)}`,
      fix: `Start a worker that serves ${some(ghosts.map(({ id, pool }) => `${id} (pool ${pool})`))}`,
    });
  }
  if (unserved.length > 0) {
    checks.push({
      name: 'versions',
      state: 'bad',
      found: `the published version is served by no living worker: ${some(unserved.map(({ id, version }) => `${id} ${version}`))}`,
      fix: 'Finish the deployment: restart the workers that still have another version',
    });
  }
  return checks;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}
