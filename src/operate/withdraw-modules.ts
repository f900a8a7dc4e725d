import { publishModules } from '../modules/catalog/publish-catalog.ts';
import type { Administered } from '../domain/identity/actor.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import { planeError, type PlaneError } from '../domain/errors/errors.ts';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import { nearNames } from '../base/near-names.ts';
import { servingOf } from '../domain/tool/serving.ts';
import type { CatalogPublishing, CatalogWithdrawal } from '../domain/ports/catalog-store.ts';
import type { Log } from '../domain/ports/log.ts';
import type { FleetReader, WorkerEntry } from '../domain/ports/fleet-registry.ts';
import { catalogDigest } from '../domain/tool/digest.ts';
import { byThisProcess } from './by-this-process.ts';
import { pause } from '../base/pause.ts';

export interface WithdrawRequest {
  /** Ids of modules. `unserved`: all modules that no live worker serves, except those that a live worker failed to load. */
  readonly modules: readonly string[] | 'unserved';
  /** Also withdraw modules that a live worker serves or failed to load. That worker publishes them again at its next start or reload. */
  readonly force?: boolean;
}

export interface Withdrawal {
  readonly sequence: number;
  readonly withdrawn: readonly ModuleDeclaration[];
  /** Modules that `unserved` did not withdraw, because a live worker has a module of this name that it could not load. */
  readonly broken: readonly string[];
}

type Needs = CatalogPublishing & CatalogWithdrawal & FleetReader;

/** Max attempts. An attempt fails only if another writer succeeded, so with up to this many writers at once each one succeeds. */
const MAX_ATTEMPTS = 50;

/**
 * Removes published modules from the catalog: all of the named ones, or none. Without `force`, throws MODULE_SERVED while a live worker has one
 * of them. Throws MODULE_UNKNOWN for an unknown name.
 */
export async function withdrawModules(store: Needs, request: WithdrawRequest, who: Administered): Promise<Withdrawal> {
  let broken: readonly string[] = [];
  const removed = await removeModules(store, who, async (catalog) => {
    const workers = await store.listWorkers();
    if (request.modules !== 'unserved') return findNamed(catalog, request, workers);
    const unserved = catalog.modules.filter((module) => servingOf(module, workers).state === 'unserved');
    const isKept = ({ id }: ModuleDeclaration): boolean => request.force !== true && brokenAt(id, workers).length > 0;
    broken = unserved.filter(isKept).map(({ id }) => id);
    return unserved.filter((module) => !isKept(module));
  });
  if (request.force === true) return { ...removed, broken };
  return { ...removed, withdrawn: await restoreServed(store, request, removed.withdrawn), broken };
}

/** Removes the modules that `choose` selects from the catalog, with an audit record. If another writer was faster, `choose` is called again. */
export async function removeModules(
  store: CatalogWithdrawal,
  who: Administered,
  choose: (catalog: Catalog) => Promise<readonly ModuleDeclaration[]>,
): Promise<Omit<Withdrawal, 'broken'>> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const catalog = await store.readCatalog();
    const withdrawn = await choose(catalog);
    if (withdrawn.length === 0) return { sequence: catalog.sequence, withdrawn };
    const modules = catalog.modules.filter((module) => !withdrawn.includes(module));
    const digest = catalogDigest(modules);
    const answer = await store.withdrawModules({
      ...who,
      expectedSequence: catalog.sequence,
      digest,
      modules,
      withdrawn: withdrawn.map(({ id, version }) => ({ id, version })),
    });
    if (answer.kind === 'written') return { sequence: answer.sequence, withdrawn };
    await pause(Math.random() * Math.min(10 * attempt, 200));
  }
  throw planeError('STORE_FAILED', {
    problem: `the catalog changed during each of ${MAX_ATTEMPTS} attempts to withdraw modules`,
  });
}

/**
 * Withdraws modules whose files were deleted while the worker runs. Each one is withdrawn
 * only while the published module still has the same digest.
 */
export function withdrawDeleted(
  store: CatalogWithdrawal,
  log: Log,
): (gone: readonly ModuleDeclaration[]) => Promise<void> {
  return async (gone) => {
    const who = byThisProcess('its file is gone');
    const { withdrawn } = await removeModules(store, who, async ({ modules }) =>
      modules.filter(({ id, digest }) => gone.some((module) => module.id === id && module.digest === digest)),
    );
    if (withdrawn.length > 0) log.info({ modules: withdrawn.map(({ id }) => id) }, 'withdrawn: the file is gone');
  };
}

function findNamed(
  { modules }: Catalog,
  { modules: names, force }: WithdrawRequest,
  workers: readonly WorkerEntry[],
): readonly ModuleDeclaration[] {
  const found = new Map(modules.map((module) => [module.id, module]));
  return [...new Set(names)].map((name) => {
    const module = found.get(name);
    if (module === undefined) throw unknownModule(name, found.keys());
    if (force === true) return module;
    const serving = servedAt(name, workers);
    if (serving.length > 0) throw planeError('MODULE_SERVED', { module: name, how: 'is served by', workers: serving });
    const broken = brokenAt(name, workers);
    if (broken.length > 0)
      throw planeError('MODULE_SERVED', { module: name, how: 'could not be loaded by', workers: broken });
    return module;
  });
}

/**
 * Publishes modules again that a worker now serves. A worker registers before it reads the catalog. If it started after the workers were
 * listed and before the catalog was written, it found its module published and did not publish it, so the module would stay withdrawn.
 * Returns what stays withdrawn. If a module that was named in the request is served, all named modules are published again and
 * MODULE_SERVED is thrown.
 */
async function restoreServed(
  store: Needs,
  { modules }: WithdrawRequest,
  withdrawn: readonly ModuleDeclaration[],
): Promise<readonly ModuleDeclaration[]> {
  if (withdrawn.length === 0) return withdrawn;
  const workers = await store.listWorkers();
  const served = withdrawn.filter(({ id }) => servedAt(id, workers).length > 0);
  const [first] = served;
  if (first === undefined) return withdrawn;
  await publishModules(store, { modules: modules === 'unserved' ? served : withdrawn });
  if (modules === 'unserved') return withdrawn.filter((module) => !served.includes(module));
  throw planeError('MODULE_SERVED', { module: first.id, how: 'is served by', workers: servedAt(first.id, workers) });
}

/**
 * The workers that serve a module and are not draining, in any pool. Pools do not matter because a caller's own worker may serve the pinned
 * tools of a module.
 */
function servedAt(id: string, workers: readonly WorkerEntry[]): string[] {
  return workers
    .filter(({ modules, state }) => state !== 'draining' && modules.some((module) => module.id === id))
    .map(({ workerId }) => workerId);
}

function brokenAt(id: string, workers: readonly WorkerEntry[]): string[] {
  return workers.filter(({ broken }) => broken.some((module) => module.id === id)).map(({ workerId }) => workerId);
}

function unknownModule(module: string, known: Iterable<string>): PlaneError {
  return planeError('MODULE_UNKNOWN', { module: module.slice(0, 80), near: nearNames(module, known) });
}
