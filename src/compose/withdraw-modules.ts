import { setTimeout as pause } from 'node:timers/promises';
import { publishModules } from '../catalog/publish-catalog.ts';
import type { Administered } from '../domain/actor.ts';
import type { Catalog } from '../domain/catalog.ts';
import { planeError, type PlaneError } from '../domain/errors.ts';
import type { ModuleDeclaration } from '../domain/module.ts';
import { nearNames } from '../domain/near-names.ts';
import { servingOf } from '../domain/serving.ts';
import type { CatalogStore } from '../ports/catalog-store.ts';
import type { Log } from '../ports/log.ts';
import type { FleetRegistry, WorkerEntry } from '../ports/fleet-registry.ts';
import { catalogDigest } from '../wire/digest.ts';
import { byThisProcess } from './by-this-process.ts';

export interface WithdrawRequest {
  /** Ids; or all that no live worker has, except those that a live worker failed to load. */
  readonly modules: readonly string[] | 'unserved';
  /** Also modules that a live worker serves or failed to load. It publishes them again at its next start or reload. */
  readonly force?: boolean;
}

export interface Withdrawal {
  readonly sequence: number;
  readonly withdrawn: readonly ModuleDeclaration[];
  /** Left alone by `unserved`: a live worker has a module of this name and could not load it. */
  readonly broken: readonly string[];
}

type Needs = Pick<CatalogStore, 'readCatalog' | 'writeCatalog' | 'withdrawModules'> &
  Pick<FleetRegistry, 'listWorkers'>;

/** Each time another writer was faster; with so many at once every one gets there. */
const MAX_ATTEMPTS = 50;

/**
 * Takes published modules out of the catalog. All of the named ones or none: throws MODULE_UNKNOWN, or MODULE_SERVED while a live worker
 * has one of them.
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

/** Removes what `choose` finds in the catalog, with an audit record. A lost race makes it choose again. */
export async function removeModules(
  store: Pick<CatalogStore, 'readCatalog' | 'withdrawModules'>,
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

/** For modules whose files were deleted under a running worker. Each is withdrawn only while the published one is still exactly that. */
export function withdrawDeleted(
  store: Pick<CatalogStore, 'readCatalog' | 'withdrawModules'>,
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
 * A worker registers before it looks at the catalog. One that started between our look at the workers and our write found its module
 * published, and would leave it withdrawn: so it is published again. Returns what stays withdrawn; named modules are refused together.
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

/** Whatever pool they are in: a caller's own worker may serve the pinned tools of a module. */
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
