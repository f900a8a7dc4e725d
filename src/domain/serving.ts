import type { ToolId } from './ids.ts';
import { entriesOf, type BrokenModule, type ModuleDeclaration } from './module.ts';

/**
 * Who serves a published module now.
 *
 * - `served`: a live worker of its pool has exactly this version.
 * - `other-version`: live workers have it, but in other versions. A call of the published one ends as stale.
 * - `unserved`: no live worker has it. Agents see its tools and cannot use them.
 * - `pinned`: all of its tools run in the processes of their callers, so no worker of the fleet is expected to have it.
 */
export const SERVING_STATES = ['served', 'other-version', 'unserved', 'pinned'] as const;
export type ServingState = (typeof SERVING_STATES)[number];

/** The same words in commands, answers to agents, the API and the console. */
export const UNSERVED = 'published, but no live worker serves it';
export const OTHER_VERSION = 'published, but live workers serve only other versions of it';

export interface Serving {
  readonly state: ServingState;
  /** Live workers of its pool that have it, in whatever version. */
  readonly liveWorkers: number;
}

export interface ServingWorker {
  readonly pool: string;
  readonly state: 'starting' | 'serving' | 'draining';
  readonly modules: readonly { readonly id: string; readonly digest: string }[];
  readonly broken: readonly BrokenModule[];
}

type Published = Pick<ModuleDeclaration, 'id' | 'digest' | 'pool' | 'tools' | 'surfaces'>;
type Workers = readonly Pick<ServingWorker, 'pool' | 'state' | 'modules'>[];

/** A worker that drains takes no calls any more, so it does not count. */
export function servingOf(module: Published, workers: Workers): Serving {
  const found = workers
    .filter(({ pool, state }) => pool === module.pool && state !== 'draining')
    .flatMap(({ modules }) => modules.filter(({ id }) => id === module.id));
  const state: ServingState = found.some(({ digest }) => digest === module.digest)
    ? 'served'
    : found.length > 0
      ? 'other-version'
      : isPinned(module)
        ? 'pinned'
        : 'unserved';
  return { state, liveWorkers: found.length };
}

/** Everything in these modules that no live worker serves, and that does not run in the process of its caller. */
export function unservedTools(modules: readonly Published[], workers: Workers): ToolId[] {
  return modules
    .filter((module) => servingOf(module, workers).state === 'unserved')
    .flatMap((module) => entriesOf(module).filter(({ pinned }) => pinned !== 'caller'))
    .map(({ id }) => id);
}

function isPinned(module: Published): boolean {
  const entries = entriesOf(module);
  return entries.length > 0 && entries.every(({ pinned }) => pinned === 'caller');
}
