import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../../domain/tool/catalog.ts';
import { planeError } from '../../domain/errors/errors.ts';
import type { BrokenModule, ModuleDeclaration } from '../../domain/tool/module.ts';
import type { CatalogPublishing } from '../../domain/ports/catalog-store.ts';
import { catalogDigest } from '../../domain/tool/digest.ts';
import { compareVersions } from './compare-versions.ts';
import { TakenNames } from './confusable-names.ts';
import { pause } from '../../base/pause.ts';

export interface PublishRequest {
  readonly modules: readonly ModuleDeclaration[];
  /**
   * Modules that this worker published before and no longer has. Each is removed from the catalog only if the published digest is still the
   * given one.
   */
  readonly gone?: readonly Pick<ModuleDeclaration, 'id' | 'digest'>[];
  /**
   * Modules that could not be loaded. Their published entries stay: a module that broke in a reload is still served in its old generation.
   * An entry is removed only if a reader could confuse its id with one of `modules`.
   */
  readonly broken?: readonly Pick<BrokenModule, 'id'>[];
  /**
   * Returns the digests of the modules that live workers serve. A published version that no live worker serves is replaced, also by a lower one
   * or by one in another pool, because every call of it would end as `stale`. It is called only if the answer decides something. If absent, a
   * lower version, or one in another pool, is never published.
   */
  readonly served?: () => Promise<ReadonlySet<string>>;
  /**
   * If true, a module with the published version number but other content waits until no live worker serves the published one. Without
   * this, the module of the worker that published last would always replace the other.
   */
  readonly yieldsToEqual?: boolean;
  /** Max attempts. An attempt fails if another process changes the catalog at the same time. */
  readonly maxAttempts?: number;
}

export interface Published {
  readonly sequence: number;
  /** False: the catalog already contained all this, and nothing was written. */
  readonly written: boolean;
  /** Ids of new and changed modules; `removed` has the ids of removed ones. */
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Modules that were not published, because the catalog has a higher version, or one in another pool, and a live worker serves it. */
  readonly older: readonly OtherVersion[];
  /** Modules that were published in place of a higher version, because no live worker serves that one. */
  readonly rolledBack: readonly OtherVersion[];
  /** New modules that were not published, because a reader could confuse their ids with published ones. */
  readonly refused: readonly RefusedModule[];
}

export interface RefusedModule {
  readonly id: string;
  /** The published id that it resembles. */
  readonly published: string;
}

export interface OtherVersion {
  readonly id: string;
  readonly version: string;
  /** The version that the catalog has, or had. */
  readonly published: string;
  /** The pool of that version, if it is another one. */
  readonly pool?: string;
}

const MAX_ATTEMPTS = 50;

/**
 * Adds modules to the catalog by compare-and-set. If another process changed the catalog in between, it reads the catalog again and merges
 * again.
 */
export async function publishModules(store: CatalogPublishing, request: PublishRequest): Promise<Published> {
  const { maxAttempts = MAX_ATTEMPTS } = request;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const catalog = await store.readCatalog();
    const served = await servedNow(catalog, request);
    const { modules, ...merge } = mergeModules(catalog, { ...request, served });
    if (merge.changed.length === 0 && merge.removed.length === 0)
      return { sequence: catalog.sequence, written: false, ...merge };
    const answer = await store.writeCatalog({
      expectedSequence: catalog.sequence,
      digest: catalogDigest(modules),
      modules,
    });
    if (answer.kind === 'written') return { sequence: answer.sequence, written: true, ...merge };
    // When many workers start at once, random pauses prevent them from colliding again and again.
    await pause(Math.random() * Math.min(10 * attempt, 200));
  }
  throw planeError('STORE_FAILED', {
    problem: `the catalog changed during each of ${maxAttempts} attempts to publish`,
  });
}

/**
 * Reads which modules live workers serve. A worker registers before it publishes, and this is read after the catalog, so every worker that
 * published something in this catalog is included.
 */
async function servedNow(catalog: Catalog, request: PublishRequest): Promise<ReadonlySet<string> | undefined> {
  const published = new Map(catalog.modules.map((module) => [module.id, module]));
  const decides = request.modules.some((module) => yieldsTo(published.get(module.id), module, request));
  return decides ? request.served?.() : undefined;
}

/** Whether this module has to wait as long as a live worker serves the published version. */
function yieldsTo(
  published: ModuleDeclaration | undefined,
  module: ModuleDeclaration,
  { yieldsToEqual = false }: Pick<PublishRequest, 'yieldsToEqual'>,
): published is ModuleDeclaration {
  if (published === undefined || published.digest === module.digest) return false;
  // Otherwise two workers could take a module from each other's pools, and its calls would wait in a pool without a worker for it.
  if (published.pool !== module.pool) return true;
  const order = compareVersions(module.version, published.version);
  return order < 0 || (order === 0 && yieldsToEqual);
}

type Merge = Pick<Published, 'changed' | 'removed' | 'older' | 'rolledBack' | 'refused'> & {
  readonly modules: readonly ModuleDeclaration[];
};
export type MergeRequest = Omit<PublishRequest, 'served'> & { readonly served?: ReadonlySet<string> | undefined };

/** @internal */
export function mergeModules(catalog: Catalog, request: MergeRequest): Merge {
  const { modules, gone = [], broken = [], served } = request;
  const merged = new Map(catalog.modules.map((module) => [module.id, module]));
  const changed: string[] = [];
  const removed: string[] = [];
  const older: OtherVersion[] = [];
  const rolledBack: OtherVersion[] = [];
  const refused: RefusedModule[] = [];
  const names = new TakenNames(merged.keys());
  for (const module of modules) {
    const published = merged.get(module.id);
    const { id, version } = module;
    // A worker already compared the ids of its modules with the catalog when it loaded them. Another worker may have published since then.
    const clash = published === undefined ? names.findConfusable(id) : undefined;
    if (clash !== undefined) {
      refused.push({ id, published: clash.with });
      continue;
    }
    names.take(id);
    const isBehind = yieldsTo(published, module, request);
    if (isBehind && (served === undefined || served.has(published.digest))) {
      const elsewhere = published.pool === module.pool ? {} : { pool: published.pool };
      older.push({ id, version, published: published.version, ...elsewhere });
    } else if (!isSame(module, published)) {
      merged.set(id, module);
      changed.push(id);
      if (isBehind && published.pool === module.pool) rolledBack.push({ id, version, published: published.version });
    }
  }
  const kept = new Set([...modules, ...broken].map((module) => module.id));
  for (const { id, digest } of gone) {
    if (kept.has(id) || merged.get(id)?.digest !== digest) continue;
    merged.delete(id);
    removed.push(id);
  }
  // A store that an earlier release wrote may have two modules that a reader could confuse.
  const own = new TakenNames(modules.map(({ id }) => id).filter((id) => merged.has(id)));
  for (const { id } of broken) {
    if (own.findConfusable(id)?.how === 'easily confused' && merged.delete(id)) removed.push(id);
  }
  const sorted = [...merged.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).map(withSortedTools);
  return { modules: sorted, changed: changed.sort(), removed: removed.sort(), older, rolledBack, refused };
}

/**
 * Whether a module equals the published one. The digest does not cover limits and the module's description, so equal digests are not
 * enough.
 */
function isSame(module: ModuleDeclaration, published: ModuleDeclaration | undefined): boolean {
  if (published === undefined || module.digest !== published.digest) return false;
  return isDeepStrictEqual(withSortedTools(module), withSortedTools(published));
}

function withSortedTools(module: ModuleDeclaration): ModuleDeclaration {
  const { tools, surfaces = [] } = module;
  if (isSorted(tools) && isSorted(surfaces)) return module;
  return {
    ...module,
    tools: tools.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    ...(surfaces.length === 0 ? {} : { surfaces: surfaces.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }),
  };
}

function isSorted(entries: ModuleDeclaration['tools']): boolean {
  return entries.every((tool, index) => index === 0 || entries[index - 1]!.id < tool.id);
}
