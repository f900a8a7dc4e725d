import { describe, expect, it } from 'vitest';
import type { Catalog } from '../domain/tool/catalog.ts';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import type { WithdrawModulesRequest, WriteCatalogRequest } from '../domain/ports/catalog-store.ts';
import type { WorkerEntry } from '../domain/ports/fleet-registry.ts';
import { withdrawModules } from './withdraw-modules.ts';

const WHO = { actor: { by: 'operator ada', via: 'cli' } } as const;

const moduleOf = (id: string): ModuleDeclaration => ({
  id,
  description: 'x',
  version: '1.0.0',
  pool: 'default',
  tools: [{ id: `${id}.run` }] as never,
  digest: id,
});

const workerOf = (serves: readonly string[], broken: readonly string[] = [], pool = 'default') =>
  ({
    workerId: 'worker-1',
    pool,
    state: 'serving',
    modules: serves.map((id) => ({ id, digest: id })),
    broken: broken.map((id) => ({ id, file: '', reason: 'it threw' })),
  }) as unknown as WorkerEntry;

/** A catalog with clock, dice and notes, in memory. `before` runs before each write. */
function planeOf(workers: WorkerEntry[], before: () => void = () => undefined) {
  const requests: WithdrawModulesRequest[] = [];
  const write = async ({ expectedSequence, digest, modules }: WriteCatalogRequest) => {
    before();
    const { sequence } = store.catalog;
    if (sequence !== expectedSequence) return { kind: 'conflict' as const, sequence };
    store.catalog = { sequence: sequence + 1, digest, modules };
    return { kind: 'written' as const, sequence: sequence + 1 };
  };
  const store = {
    catalog: { sequence: 7, digest: '', modules: ['clock', 'dice', 'notes'].map(moduleOf) } as Catalog,
    workers,
    readCatalog: async () => store.catalog,
    listWorkers: async () => store.workers,
    writeCatalog: write,
    withdrawModules: async (request: WithdrawModulesRequest) => {
      requests.push(request);
      return write(request);
    },
  };
  return { store, requests, left: () => store.catalog.modules.map(({ id }) => id) };
}

describe('withdrawModules', () => {
  it('takes out what no live worker serves, in one write that says who', async () => {
    const { store, requests, left } = planeOf([workerOf(['dice'])]);
    const done = await withdrawModules(store, { modules: 'unserved' }, WHO);
    expect(done).toMatchObject({ sequence: 8, withdrawn: [{ id: 'clock' }, { id: 'notes' }], broken: [] });
    expect(left()).toStrictEqual(['dice']);
    expect(requests).toMatchObject([
      {
        ...WHO,
        expectedSequence: 7,
        withdrawn: [
          { id: 'clock', version: '1.0.0' },
          { id: 'notes', version: '1.0.0' },
        ],
      },
    ]);
  });

  it('writes nothing when everything is served', async () => {
    const { store, requests } = planeOf([workerOf(['clock', 'dice', 'notes'])]);
    expect(await withdrawModules(store, { modules: 'unserved' }, WHO)).toMatchObject({ sequence: 7, withdrawn: [] });
    expect(requests).toStrictEqual([]);
  });

  it('leaves alone what a live worker failed to load, unless it is forced', async () => {
    const { store, left } = planeOf([workerOf(['dice'], ['notes'])]);
    expect(await withdrawModules(store, { modules: 'unserved' }, WHO)).toMatchObject({ broken: ['notes'] });
    expect(left()).toStrictEqual(['dice', 'notes']);
    expect(await withdrawModules(store, { modules: 'unserved', force: true }, WHO)).toMatchObject({ broken: [] });
    expect(left()).toStrictEqual(['dice']);
  });

  it.each([
    ['that a live worker serves', workerOf(['clock']), 'Nothing was withdrawn: clock is served by worker-1.'],
    ['that a caller serves in its own process', workerOf(['clock'], [], 'own'), 'clock is served by worker-1.'],
    ['that a live worker failed to load', workerOf([], ['clock']), 'clock could not be loaded by worker-1.'],
  ])('refuses a named module %s, with all others that were named', async (_, worker, message) => {
    const { store, left } = planeOf([worker]);
    const modules = ['notes', 'clock'];
    await expect(withdrawModules(store, { modules }, WHO)).rejects.toThrow(message);
    expect(left()).toStrictEqual(['clock', 'dice', 'notes']);
    await withdrawModules(store, { modules, force: true }, WHO);
    expect(left()).toStrictEqual(['dice']);
  });

  it('refuses a name that is not published, and says which one was probably meant', async () => {
    const { store, left } = planeOf([]);
    await expect(withdrawModules(store, { modules: ['notes', 'clok'] }, WHO)).rejects.toThrow(
      'No module "clok" is published. Did you mean clock?',
    );
    expect(left()).toHaveLength(3);
  });

  it('looks again after a lost race, and keeps what was published in between', async () => {
    let races = 1;
    const { store, left } = planeOf([], () => {
      if (races-- > 0) store.catalog = { ...store.catalog, sequence: 8, modules: ['clock', 'new'].map(moduleOf) };
    });
    await withdrawModules(store, { modules: ['clock'] }, WHO);
    expect(left()).toStrictEqual(['new']);
  });

  it('publishes a module again whose worker started between the look at the workers and the write', async () => {
    const { store, left } = planeOf([], () => void (store.workers = [workerOf(['clock'])]));
    await expect(withdrawModules(store, { modules: ['clock', 'notes'] }, WHO)).rejects.toThrow('clock is served by');
    expect(left()).toStrictEqual(['clock', 'dice', 'notes']);
    store.workers = [];
    const done = await withdrawModules(store, { modules: 'unserved' }, WHO);
    expect(done.withdrawn.map(({ id }) => id)).toStrictEqual(['dice', 'notes']);
    expect(left()).toStrictEqual(['clock']);
  });
});
