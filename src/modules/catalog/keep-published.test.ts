import { describe, expect, it } from 'vitest';
import { EMPTY_CATALOG, type Catalog } from '../../domain/tool/catalog.ts';
import type { ModuleDeclaration } from '../../domain/tool/module.ts';
import type { WorkerEntry } from '../../domain/ports/fleet-registry.ts';
import { SILENT_LOG } from '../../../test/support/sample-call.ts';
import { keepPublished } from './keep-published.ts';

const moduleOf = (version: string, digest = `digest-${version}`, pool = 'default'): ModuleDeclaration => ({
  id: 'notes',
  description: 'x',
  version,
  pool,
  tools: [],
  digest,
});

/** A store in memory with a catalog and a list of workers, and the warnings that were logged. */
function fleetOf() {
  const warned: string[] = [];
  const store = {
    catalog: EMPTY_CATALOG as Catalog,
    workers: [] as { state: WorkerEntry['state']; digests: string[] }[],
    readCatalog: async () => store.catalog,
    watchCatalog: async ({ after }: { after: number }) => (store.catalog.sequence > after ? store.catalog : undefined),
    async writeCatalog(request: { expectedSequence: number; digest: string; modules: readonly ModuleDeclaration[] }) {
      const sequence = request.expectedSequence + 1;
      store.catalog = { sequence, digest: request.digest, modules: request.modules };
      return { kind: 'written' as const, sequence };
    },
    listWorkers: async () =>
      store.workers.map(({ state, digests }) => ({
        state,
        modules: digests.map((digest) => ({ id: 'notes', digest })),
      })) as unknown as WorkerEntry[],
  };
  const log = { ...SILENT_LOG, warn: (_facts: object, message: string) => void warned.push(message) };
  const versionOf = (): string | undefined => store.catalog.modules[0]?.version;
  return { store, warned, keeper: () => keepPublished(store, log), versionOf };
}

const serving = (...digests: string[]) => ({ state: 'serving' as const, digests });

describe('keepPublished', () => {
  it('publishes what this worker serves once the last worker of the published version is gone, and says so once', async () => {
    const { store, warned, keeper, versionOf } = fleetOf();
    await keeper().publish({ modules: [moduleOf('1.0.1')] });
    store.workers = [serving('digest-1.0.1'), serving('digest-1.0.0')];
    const old = keeper();
    await old.publish({ modules: [moduleOf('1.0.0')] });
    await old.check();
    expect(versionOf()).toBe('1.0.1');
    expect(old.versions.older).toEqual([{ id: 'notes', version: '1.0.0', published: '1.0.1' }]);
    expect(warned).toEqual(['not published: live workers serve the published version']);

    store.workers = [{ state: 'draining', digests: ['digest-1.0.1'] }, serving('digest-1.0.0')];
    await old.check();
    expect(versionOf()).toBe('1.0.0');
    expect(old.versions).toMatchObject({ older: [], rolledBack: [{ published: '1.0.1' }] });
    await old.check();
    expect(warned.slice(1)).toEqual(['rolled back: no live worker serves the published version']);
  });

  it('publishes a higher version again that another worker has replaced while this one started', async () => {
    const { store, keeper, versionOf } = fleetOf();
    const newer = keeper();
    await newer.publish({ modules: [moduleOf('1.0.1')] });
    store.catalog = { sequence: 2, digest: 'd', modules: [moduleOf('1.0.0')] };
    store.workers = [serving('digest-1.0.1'), serving('digest-1.0.0')];
    await newer.check();
    expect(versionOf()).toBe('1.0.1');
  });

  it('leaves an equal version with other content alone while a live worker serves it, and what was removed', async () => {
    const { store, keeper } = fleetOf();
    const one = keeper();
    await one.publish({ modules: [moduleOf('1.0.0', 'mine')] });
    store.catalog = { sequence: 2, digest: 'd', modules: [moduleOf('1.0.0', 'theirs')] };
    store.workers = [serving('mine'), serving('theirs')];
    await one.check();
    expect(store.catalog.modules[0]!.digest).toBe('theirs');
    store.workers = [serving('mine')];
    await one.check();
    expect(store.catalog.modules[0]!.digest).toBe('mine');
    store.catalog = { sequence: 9, digest: 'd', modules: [] };
    await one.check();
    expect(store.catalog.modules).toEqual([]);
  });

  it('says in which pool live workers serve a module that this worker has in another pool', async () => {
    const { store, warned, keeper } = fleetOf();
    await keeper().publish({ modules: [moduleOf('1.0.0', 'here')] });
    store.workers = [serving('here'), serving('there')];
    const other = keeper();
    await other.publish({ modules: [moduleOf('1.0.0', 'there', 'games')] });
    expect(store.catalog.modules[0]!.pool).toBe('default');
    expect(warned).toEqual(['not published: live workers serve the module in another pool']);
    expect(other.versions.older).toEqual([{ id: 'notes', version: '1.0.0', published: '1.0.0', pool: 'default' }]);
    store.workers = [serving('there')];
    await other.check();
    expect(store.catalog.modules[0]!.pool).toBe('games');
  });
});
