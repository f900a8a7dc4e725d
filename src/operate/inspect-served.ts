import type { ModuleDeclaration } from '../domain/tool/module.ts';
import { servingOf, type ServingWorker } from '../domain/tool/serving.ts';
import type { Check } from './check.ts';

type Published = Pick<ModuleDeclaration, 'id' | 'digest' | 'version' | 'pool' | 'tools'>;
type Worker = Pick<ServingWorker, 'pool' | 'state' | 'modules'>;

const NAMED = 5;

/**
 * Reports published tools that no live worker serves. A module without any worker is a ghost: agents
 * see its tools, and their calls are refused, or wait until their deadlines if the pool has no worker
 * at all. If a module is served only in other versions, its callers wait for the published one.
 */
export function inspectServed(published: readonly Published[], workers: readonly Worker[]): Check[] {
  const ghosts = published.filter((module) => servingOf(module, workers).state === 'unserved');
  const behind = published.filter((module) => servingOf(module, workers).state === 'other-version');
  const checks: Check[] = [];
  if (ghosts.length > 0) {
    const tools = ghosts.flatMap((module) => module.tools.map(({ id }) => id));
    checks.push({
      name: 'ghost tools',
      // Without any worker, the check `workers` already reports the cause, so this is only a warning.
      state: workers.length === 0 ? 'warn' : 'bad',
      found: `published, but no live worker serves them: ${some(tools)}`,
      fix: `Start a worker that serves ${some(ghosts.map(({ id, pool }) => `${id} (pool ${pool})`))}; or take them out: sallyport catalog withdraw --unserved`,
    });
  }
  if (behind.length > 0) {
    checks.push({
      name: 'versions',
      state: 'bad',
      found: `the published version is served by no live worker: ${some(behind.map(({ id, version }) => `${id} ${version}`))}`,
      fix: 'Finish the deployment: restart the workers that still have another version',
    });
  }
  return checks;
}

function some(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ');
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown;
}
