import { describe, expect, it } from 'vitest';
import { EMPTY_CATALOG, type Catalog } from '../../domain/tool/catalog.ts';
import { toolId } from '../../domain/identity/ids.ts';
import type { ModuleDeclaration } from '../../domain/tool/module.ts';
import { DEFAULT_LIMITS } from '../../domain/tool/tool.ts';
import type { CatalogPublishing, CatalogStore } from '../../domain/ports/catalog-store.ts';
import { catalogDigest, moduleDigest, toolDigest } from '../../domain/tool/digest.ts';
import { mergeModules, publishModules, type MergeRequest } from './publish-catalog.ts';

interface Sample {
  readonly id?: string;
  readonly version?: string;
  readonly tools?: readonly string[];
  readonly timeoutMs?: number;
  readonly pool?: string;
}

function sample(wanted: Sample = {}): ModuleDeclaration {
  const { id = 'notes', version = '1.0.0', tools = ['add'], timeoutMs = 1, pool = 'default' } = wanted;
  const declared = tools.map((name) => {
    const shown = {
      id: toolId(id, name),
      description: 'x',
      inputSchema: { type: 'object' },
      effect: 'read' as const,
      privileged: false,
      serial: false,
    };
    return { ...shown, limits: { ...DEFAULT_LIMITS, timeoutMs }, digest: toolDigest(shown) };
  });
  const shown = { id, description: 'x', version, pool, tools: declared };
  return { ...shown, digest: moduleDigest(shown) };
}

const catalogOf = (...modules: ModuleDeclaration[]): Catalog => ({
  sequence: 7,
  digest: catalogDigest(modules),
  modules,
});
const merge = (
  catalog: Catalog,
  request: MergeRequest,
): { ids: string[]; changed: readonly string[]; removed: readonly string[]; older: number } => {
  const merged = mergeModules(catalog, request);
  const ids = merged.modules.map((module) => `${module.id}@${module.version}`);
  return { ids, changed: merged.changed, removed: merged.removed, older: merged.older.length };
};

describe('mergeModules', () => {
  it('adds to what other workers published, ordered by id', () => {
    const catalog = catalogOf(sample({ id: 'b' }));
    expect(merge(catalog, { modules: [sample({ id: 'c' }), sample({ id: 'a' })] })).toStrictEqual({
      ids: ['a@1.0.0', 'b@1.0.0', 'c@1.0.0'],
      changed: ['a', 'c'],
      removed: [],
      older: 0,
    });
  });

  it('orders tools by name and takes another order for the same content', () => {
    const sorted = sample({ tools: ['add', 'edit'] });
    const shuffled = { ...sorted, tools: sorted.tools.toReversed() };
    expect(mergeModules(EMPTY_CATALOG, { modules: [shuffled] }).modules).toStrictEqual([sorted]);
    expect(merge(catalogOf(sorted), { modules: [shuffled] }).changed).toStrictEqual([]);
    expect(merge(catalogOf(shuffled), { modules: [sorted] }).changed).toStrictEqual([]);
  });

  it('never replaces a newer version by an older one', () => {
    const catalog = catalogOf(sample({ version: '1.10.0' }));
    expect(merge(catalog, { modules: [sample({ version: '1.9.0' })] })).toStrictEqual({
      ids: ['notes@1.10.0'],
      changed: [],
      removed: [],
      older: 1,
    });
    expect(merge(catalog, { modules: [sample({ version: '1.10.0', tools: ['other'] })] }).changed).toStrictEqual([
      'notes',
    ]);
    expect(merge(catalog, { modules: [sample({ version: '2.0.0' })] }).ids).toStrictEqual(['notes@2.0.0']);
  });

  it('notices a change that no digest shows', () => {
    expect(merge(catalogOf(sample()), { modules: [sample({ timeoutMs: 2 })] }).changed).toStrictEqual(['notes']);
    expect(merge(catalogOf(sample()), { modules: [sample()] }).changed).toStrictEqual([]);
  });

  it('removes a module that is gone, unless another worker changed it, it is broken, or it is back', () => {
    const mine = sample();
    const gone = [mine];
    expect(merge(catalogOf(mine), { modules: [], gone }).removed).toStrictEqual(['notes']);
    expect(merge(catalogOf(sample({ version: '2.0.0' })), { modules: [], gone }).removed).toStrictEqual([]);
    expect(merge(catalogOf(mine), { modules: [], gone, broken: [{ id: 'notes' }] }).ids).toStrictEqual(['notes@1.0.0']);
    expect(merge(catalogOf(mine), { modules: [mine], gone }).removed).toStrictEqual([]);
    expect(merge(EMPTY_CATALOG, { modules: [], gone }).removed).toStrictEqual([]);
  });

  it('publishes no new module that a reader could confuse with a published one, and reports it', () => {
    const merged = mergeModules(catalogOf(sample({ id: 'box' })), { modules: [sample({ id: 'Box' }), sample()] });
    expect(merged.modules.map(({ id }) => id)).toStrictEqual(['box', 'notes']);
    expect(merged.refused).toStrictEqual([{ id: 'Box', published: 'box' }]);
  });

  it('removes a module that a worker refused because a reader could confuse it with one that it publishes', () => {
    const catalog = catalogOf(sample({ id: 'Box' }), sample({ id: 'box' }), sample());
    const broken = [{ id: 'Box' }, { id: 'notes' }];
    const merged = merge(catalog, { modules: [sample({ id: 'box' })], broken });
    expect(merged).toMatchObject({ ids: ['box@1.0.0', 'notes@1.0.0'], removed: ['Box'] });
  });
});

/** A store in memory with the compare-and-set that the port `CatalogPublishing` requires. In test/catalog the real stores are tested. */
function catalogStore(onRead: () => void = () => {}): CatalogPublishing & { catalog: Catalog } {
  const store = {
    catalog: EMPTY_CATALOG,
    readCatalog: () => {
      const { catalog } = store;
      onRead();
      return Promise.resolve(catalog);
    },
    watchCatalog: () => Promise.resolve(undefined),
    writeCatalog: (request: Parameters<CatalogStore['writeCatalog']>[0]) => {
      const { sequence } = store.catalog;
      if (request.expectedSequence !== sequence) return Promise.resolve({ kind: 'conflict' as const, sequence });
      store.catalog = { sequence: sequence + 1, digest: request.digest, modules: request.modules };
      return Promise.resolve({ kind: 'written' as const, sequence: sequence + 1 });
    },
  };
  return store;
}

describe('publishModules', () => {
  it('writes once, and nothing when nothing changed', async () => {
    const store = catalogStore();
    const modules = [sample({ id: 'b' }), sample({ id: 'a' })];
    expect(await publishModules(store, { modules })).toMatchObject({ written: true, sequence: 1, changed: ['a', 'b'] });
    expect(await publishModules(store, { modules: modules.toReversed() })).toMatchObject({
      written: false,
      sequence: 1,
    });
    expect(store.catalog).toMatchObject({ sequence: 1, digest: catalogDigest(modules) });
  });

  it('loses nothing when 20 workers publish at once', async () => {
    const store = catalogStore();
    const ids = Array.from({ length: 20 }, (_, index) => `m${String(index).padStart(2, '0')}`);
    await Promise.all(ids.map((id) => publishModules(store, { modules: [sample({ id })] })));
    expect(store.catalog.modules.map((module) => module.id)).toStrictEqual(ids);
    expect(store.catalog.sequence).toBe(20);
  });

  it('gives up, visibly, when it loses every race', async () => {
    const store = catalogStore(() => {
      store.catalog = { ...store.catalog, sequence: store.catalog.sequence + 1 };
    });
    await expect(publishModules(store, { modules: [sample()], maxAttempts: 3 })).rejects.toMatchObject({
      code: 'STORE_FAILED',
    });
  });

  it('reports what it kept back as older', async () => {
    const store = catalogStore();
    await publishModules(store, { modules: [sample({ version: '2.0.0' })] });
    expect(await publishModules(store, { modules: [sample({ version: '1.0.0' })] })).toStrictEqual({
      sequence: 1,
      written: false,
      changed: [],
      removed: [],
      older: [{ id: 'notes', version: '1.0.0', published: '2.0.0' }],
      rolledBack: [],
      refused: [],
    });
  });

  it('puts a lower version in the place of one that no live worker serves, and asks only when that decides', async () => {
    const store = catalogStore();
    const [newer, older] = [sample({ version: '2.0.0' }), sample({ version: '1.0.0' })];
    let asked = 0;
    const servedBy =
      (...modules: ModuleDeclaration[]) =>
      async () => {
        asked += 1;
        return new Set(modules.map(({ digest }) => digest));
      };
    await publishModules(store, { modules: [newer], served: servedBy() });
    await publishModules(store, { modules: [newer], served: servedBy() });
    expect(asked).toBe(0);
    expect(await publishModules(store, { modules: [older], served: servedBy(older, newer) })).toMatchObject({
      written: false,
      older: [{ id: 'notes', version: '1.0.0', published: '2.0.0' }],
    });
    expect(await publishModules(store, { modules: [older], served: servedBy(older) })).toMatchObject({
      written: true,
      changed: ['notes'],
      older: [],
      rolledBack: [{ id: 'notes', version: '1.0.0', published: '2.0.0' }],
    });
    expect(store.catalog.modules).toStrictEqual([older]);
  });

  it('moves a module to another pool only when no live worker serves it in the published one', async () => {
    const store = catalogStore();
    const [here, there] = [sample(), sample({ version: '2.0.0', pool: 'games' })];
    const servedBy = (...modules: ModuleDeclaration[]) => Promise.resolve(new Set(modules.map(({ digest }) => digest)));
    await publishModules(store, { modules: [here] });
    expect(await publishModules(store, { modules: [there], served: () => servedBy(here, there) })).toMatchObject({
      written: false,
      older: [{ id: 'notes', version: '2.0.0', published: '1.0.0', pool: 'default' }],
    });
    expect(await publishModules(store, { modules: [there], served: () => servedBy(there) })).toMatchObject({
      written: true,
      changed: ['notes'],
      older: [],
      rolledBack: [],
    });
  });
});
