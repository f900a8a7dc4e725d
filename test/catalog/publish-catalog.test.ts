import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModules } from '../../src/modules/catalog/load-modules.ts';
import type { LoadedModule } from '../../src/modules/catalog/loaded-module.ts';
import { publishModules } from '../../src/modules/catalog/publish-catalog.ts';
import { catalogDigest } from '../../src/domain/tool/digest.ts';
import { createEmbeddedBackend } from '../contract/embedded-backend.ts';
import { createRedisBackend } from '../contract/redis-backend.ts';
import type { Backend } from '../contract/scene.ts';
import { createModuleFolder, moduleText, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
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
