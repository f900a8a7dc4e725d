import { hostname } from 'node:os';
import type { LoadResult } from '../modules/catalog/loaded-module.ts';
import type { Administered } from '../domain/identity/actor.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import type { WorkerId } from '../domain/identity/ids.ts';
import { entriesOf, type ModuleDeclaration } from '../domain/tool/module.ts';
import type { CatalogWithdrawal } from '../domain/ports/catalog-store.ts';
import type { FleetReader, WorkerEntry } from '../domain/ports/fleet-registry.ts';
import { removeModules } from './withdraw-modules.ts';

interface OwnWorker {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly loaded: LoadResult;
}

export interface LeftModules {
  readonly withdrawn: readonly ModuleDeclaration[];
  /**
   * True if nothing was withdrawn because a module could not be loaded, and the id that it seems to have is not published: any of the
   * published modules may be that module. Try again when it is loaded.
   */
  readonly isHeldBack: boolean;
}

/**
 * Withdraws modules that an earlier start of `sallyport dev` published. `dev` owns its store and runs a worker itself. A published module
 * that this worker neither serves nor failed to load comes from an earlier start with other modules, and no worker would run its tools.
 */
export async function withdrawLeftModules(
  store: CatalogWithdrawal & FleetReader,
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

/**
 * Whether a broken module has an id that is not published. This id may be a wrong guess, so the module could be any of the published ones.
 */
function isAnyUnknown({ modules }: Catalog, { broken }: LoadResult): boolean {
  const published = new Set(modules.map(({ id }) => id));
  return broken.some(({ id }) => !published.has(id));
}

/**
 * Finds the modules to withdraw. Modules of other pools, modules with tools that run in the processes of their callers, and modules of
 * another live worker are not withdrawn. Empty while a broken module has no known id.
 * @internal
 */
export function findLeftModules(
  catalog: Catalog,
  { pool, loaded }: OwnWorker,
  others: readonly Pick<WorkerEntry, 'modules' | 'broken'>[],
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

/**
 * Whether another worker is alive. A worker that was killed stays registered for some seconds, so its process is checked: all workers of an
 * embedded store are on this machine.
 */
function isAliveBeside({ workerId, host, pid }: WorkerEntry, own: WorkerId): boolean {
  if (workerId === own || (host === hostname() && pid === process.pid)) return false;
  return host !== hostname() || isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
