import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadServedModules } from '../../src/compose/served-modules.ts';
import { keepPublished } from '../../src/modules/catalog/keep-published.ts';
import { loadModules } from '../../src/modules/catalog/load-modules.ts';
import type { LoadedModule } from '../../src/modules/catalog/loaded-module.ts';
import { publishModules } from '../../src/modules/catalog/publish-catalog.ts';
import { catalogDigest } from '../../src/domain/tool/digest.ts';
import { createEmbeddedBackend } from '../contract/embedded-backend.ts';
import { createRedisBackend } from '../contract/redis-backend.ts';
import type { Backend } from '../contract/scene.ts';
import { createModuleFolder, moduleText, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const declarationsOf = (modules: readonly LoadedModule[]): LoadedModule['declaration'][] =>
  modules.map((module) => module.declaration);

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

describe.each([
  ['embedded', createEmbeddedBackend],
  ['redis', () => createRedisBackend(server)],
])('publishing loaded modules to the %s store', (_name, createBackend) => {
  let backend: Backend;
  let folder: ModuleFolder;
  beforeAll(async () => {
    backend = await createBackend();
    folder = createModuleFolder({ 'a.js': moduleText({ id: 'a' }), 'b.js': moduleText({ id: 'b' }) });
  });
  afterAll(async () => {
    folder.dispose();
    await backend.destroy();
  });

  it('writes once, reads back what was loaded, and follows changes of the files', async () => {
    const store = await backend.open();
    try {
      const first = await loadModules(folder.path);
      const modules = declarationsOf(first.modules);
      expect(await publishModules(store, { modules })).toMatchObject({ written: true, changed: ['a', 'b'] });
      const { sequence, ...catalog } = await store.readCatalog();
      expect(catalog).toStrictEqual({ digest: catalogDigest(modules), modules });

      expect(
        await publishModules(store, { modules: declarationsOf((await loadModules(folder.path)).modules) }),
      ).toMatchObject({
        written: false,
        sequence,
      });

      folder.remove('b.js');
      folder.write('a.js', 'export default {{');
      const second = await loadModules(folder.path);
      const answer = await publishModules(store, {
        modules: declarationsOf(second.modules),
        gone: modules,
        broken: second.broken,
      });
      expect(answer).toMatchObject({ written: true, removed: ['b'], changed: [] });
      expect((await store.readCatalog()).modules).toStrictEqual(modules.slice(0, 1));
    } finally {
      await store.close();
    }
  });

  it('lets the first of two workers serve its module when a reader could confuse the ids', async () => {
    const store = await backend.open();
    const twins = ['crate', 'Crate'].map((id) => createModuleFolder({ 'a.js': moduleText({ id }) }));
    try {
      const published = async () => (await store.readCatalog()).modules.map(({ id }) => id);
      const place = { pool: 'default', placement: undefined };
      // Both workers load their modules before one of them publishes.
      const [first, second] = await Promise.all(
        twins.map(({ path }) => loadServedModules(path, place, SILENT_LOG, published, async (found) => found)),
      );
      await first!.publish(keepPublished(store, SILENT_LOG));
      await second!.publish(keepPublished(store, SILENT_LOG));
      expect(await published()).toContain('crate');
      expect(await published()).not.toContain('Crate');
      expect([first!.serves('crate.echo'), second!.serves('Crate.echo')]).toStrictEqual([true, false]);
      expect(second!.served).toMatchObject({
        modules: [],
        broken: [{ id: 'Crate', reason: expect.stringContaining('easily confused with "crate"') as string }],
      });
    } finally {
      for (const twin of twins) twin.dispose();
      await store.close();
    }
  });

  it('loses nothing when workers publish at once', async () => {
    const stores = await Promise.all(Array.from({ length: 4 }, () => backend.open()));
    try {
      folder.write('a.js', moduleText({ id: 'a' }));
      const [module] = declarationsOf((await loadModules(folder.path)).modules);
      const ids = ['c1', 'c2', 'c3', 'c4'];
      await Promise.all(
        stores.map((store, index) => publishModules(store, { modules: [{ ...module!, id: ids[index]! }] })),
      );
      const published = (await stores[0]!.readCatalog()).modules.map(({ id }) => id);
      expect(published.filter((id) => ids.includes(id))).toStrictEqual(ids);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  });
});
