import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../../domain/tool/catalog.ts';
import { planeError } from '../../domain/errors/errors.ts';
import type { BrokenModule, ModuleDeclaration } from '../../domain/tool/module.ts';
import type { CatalogPublishing } from '../../domain/ports/catalog-store.ts';
import { catalogDigest } from '../../domain/tool/digest.ts';
import { compareVersions } from './compare-versions.ts';
import { pause } from '../../base/pause.ts';

export interface PublishRequest {
  readonly modules: readonly ModuleDeclaration[];
  /** Modules that this worker published before and no longer has. Each is removed only while the published one is still exactly that. */
  readonly gone?: readonly Pick<ModuleDeclaration, 'id' | 'digest'>[];
  /**
   * Modules that could not be loaded. Their published entries stay: a module that broke in a reload is still served in its old generation.
   */
  readonly broken?: readonly Pick<BrokenModule, 'id'>[];
  /**
   * Digests of the modules that live workers serve. A published version that no live worker serves is replaced, also by a lower one or by one
   * in another pool: every call of it would end as stale. The digests are read only if they decide something. Absent: a lower version, or one
   * in another pool, is never published.
   */
  readonly served?: () => Promise<ReadonlySet<string>>;
  /**
   * If true, an equal version with other content also waits until no live worker serves the published one; otherwise the last worker to
   * start would win.
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

/** Adds modules to the catalog by compare-and-set: a process that loses the race reads again and merges into what the other wrote. */
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
    // Many workers start at once; random pauses let them through one after the other.
    await pause(Math.random() * Math.min(10 * attempt, 200));
  }
  throw planeError('STORE_FAILED', {
    problem: `the catalog changed during each of ${maxAttempts} attempts to publish`,
  });
}

/**
 * Reads which modules live workers serve. It is read after the catalog, so that a worker which published something in the catalog is
 * included: a worker registers before it publishes.
 */
async function servedNow(catalog: Catalog, request: PublishRequest): Promise<ReadonlySet<string> | undefined> {
  const published = new Map(catalog.modules.map((module) => [module.id, module]));
  const decides = request.modules.some((module) => yieldsTo(published.get(module.id), module, request));
  return decides ? request.served?.() : undefined;
}

/** Whether this module gives way to what is published, as long as a live worker serves that. */
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

type Merge = Pick<Published, 'changed' | 'removed' | 'older' | 'rolledBack'> & {
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
  for (const module of modules) {
    const published = merged.get(module.id);
    const { id, version } = module;
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
  const sorted = [...merged.values()].sort((a, b) => (a.id < b.id ? -1 : 1)).map(withSortedTools);
  return { modules: sorted, changed: changed.sort(), removed: removed.sort(), older, rolledBack };
}

/** Whether a module equals the published one. Digests leave out limits and the module's description, so equal digests are not enough. */
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
