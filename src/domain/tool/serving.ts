import type { ToolId } from '../identity/ids.ts';
import { entriesOf, type BrokenModule, type ModuleDeclaration } from './module.ts';

/**
 * Whether workers serve a published module now.
 *
 * - `served`: a live worker of its pool has exactly this version.
 * - `other-version`: live workers have it, but in other versions. A call of the published one ends as `stale`.
 * - `unserved`: no live worker has it. Agents see its tools and cannot use them.
 * - `pinned`: all of its tools run in the processes of their callers, so no worker of the fleet is expected to have it.
 */
export const SERVING_STATES = ['served', 'other-version', 'unserved', 'pinned'] as const;
export type ServingState = (typeof SERVING_STATES)[number];

/** These texts are the same in commands, answers to agents, the API and the console. */
export const UNSERVED = 'published, but no live worker serves it';
export const OTHER_VERSION = 'published, but live workers serve only other versions of it';

export interface Serving {
  readonly state: ServingState;
  /** Number of live workers of its pool that have the module, in any version. */
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

/** Counts the workers that serve a module. A draining worker takes no more calls, so it does not count. */
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

/** All tools, resources and prompts of these modules that no live worker serves and that do not run in the caller's process. */
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
