import { hostname } from 'node:os';
import type { LoadResult } from '../catalog/loaded-module.ts';
import type { Administered } from '../domain/actor.ts';
import type { Catalog } from '../domain/catalog.ts';
import type { WorkerId } from '../domain/ids.ts';
import { entriesOf, type ModuleDeclaration } from '../domain/module.ts';
import type { Store } from '../ports/store.ts';
import { removeModules } from './withdraw-modules.ts';

interface OwnWorker {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly loaded: LoadResult;
}

export interface LeftModules {
  readonly withdrawn: readonly ModuleDeclaration[];
  /** Nothing could be withdrawn, because it is not known which module is broken. Try again when that one is loaded. */
  readonly isHeldBack: boolean;
}

type Registered = Awaited<ReturnType<Store['listWorkers']>>[number];

/**
 * `sallyport dev` owns its store and is its worker, so a module that it neither serves nor failed to load was published by an earlier
 * start, with other modules. Nothing would serve its tools: they are withdrawn.
 */
export async function withdrawLeftModules(
  store: Pick<Store, 'readCatalog' | 'withdrawModules' | 'listWorkers'>,
  own: OwnWorker,
  who: Administered,
): Promise<LeftModules> {
  let isHeldBack = false;
  const { withdrawn } = await removeModules(store, who, async (catalog) => {
    isHeldBack = isAnyUnknown(catalog, own.loaded);
    const others = (await store.listWorkers()).filter((worker) => isAliveBeside(worker, own.workerId));
    return findLeftModules(catalog, own, others);
  });
  return { withdrawn, isHeldBack };
}

/** A broken module without a known id may be any of the published ones. */
function isAnyUnknown({ modules }: Catalog, { broken }: LoadResult): boolean {
  const published = new Set(modules.map(({ id }) => id));
  return broken.some(({ id }) => !published.has(id));
}

/**
 * Left alone: modules of other pools, modules with tools that run in the processes of their callers, and what another live worker has.
 * Nothing is found while a broken module has no known id.
 */
export function findLeftModules(
  catalog: Catalog,
  { pool, loaded }: OwnWorker,
  others: readonly Pick<Registered, 'modules' | 'broken'>[],
): readonly ModuleDeclaration[] {
  if (isAnyUnknown(catalog, loaded)) return [];
  const had = [
    ...loaded.modules.map(({ declaration }) => declaration),
    ...loaded.broken,
    ...others.flatMap((worker) => [...worker.modules, ...worker.broken]),
  ];
  const kept = new Set(had.map(({ id }) => id));
  return catalog.modules.filter(
    (module) =>
      module.pool === pool && !kept.has(module.id) && entriesOf(module).every(({ pinned }) => pinned === undefined),
  );
}

/** A worker that was killed stays registered for some seconds; all workers of an embedded store are on this machine. */
function isAliveBeside({ workerId, host, pid }: Registered, own: WorkerId): boolean {
  if (workerId === own || (host === hostname() && pid === process.pid)) return false;
  return host !== hostname() || isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process: it is there, and may not be signalled.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
