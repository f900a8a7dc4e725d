import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import { createModuleFolder, moduleText, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor } from './support/watch-plane.ts';

describe.each(BACKENDS)('a module that is rolled back on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  const folders: ModuleFolder[] = [];
  beforeEach(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
  });
  afterEach(async () => {
    await plane.stop();
    for (const folder of folders.splice(0)) folder.dispose();
  });

  const textOf = (version: string): string =>
    moduleText({ id: 'notes', version, tool: `description: 'Echoes, as ${version} does.',` });
  function modulesOf(version: string): ModuleFolder {
    const folder = createModuleFolder({ 'notes.mjs': textOf(version) });
    folders.push(folder);
    return folder;
  }
  const publishedVersion = async () => (await plane.store.readCatalog()).modules[0]?.version;
  const untilPublished = (version: string) =>
    eventually(async () => (await publishedVersion()) === version, { what: `version ${version} in the catalog` });
  const call = () => callFor(plane, session, 'notes.echo', {});

  it('is published in its lower version when no worker of the higher one lives, and called at once', async () => {
    const newer = await plane.startWorker({ modules: modulesOf('1.0.1').path });
    expect((await call()).kind).toBe('ok');
    await newer.process.stop();
    const older = await plane.startWorker({ modules: modulesOf('1.0.0').path });
    expect(await publishedVersion()).toBe('1.0.0');
    expect((await call()).kind).toBe('ok');
    expect(older.process.stderr).toMatch(/rolled back: no live worker serves the published version/);
  });

  it('stays in its higher version while a worker serves that, and follows when that worker is killed', async () => {
    const newer = await plane.startWorker({ modules: modulesOf('1.0.1').path });
    const older = await plane.startWorker({ modules: modulesOf('1.0.0').path });
    expect(await publishedVersion()).toBe('1.0.1');
    expect(older.process.stderr).toMatch(/not published: live workers serve the published version/);
    expect((await call()).kind).toBe('ok');
    newer.process.kill('SIGKILL');
    await untilPublished('1.0.0');
    expect((await call()).kind).toBe('ok');
  });

  it('follows a reload to a lower version', async () => {
    const folder = modulesOf('1.0.1');
    await plane.startWorker({ modules: folder.path, watch: true });
    folder.write('notes.mjs', textOf('1.0.0'));
    await untilPublished('1.0.0');
    expect((await call()).kind).toBe('ok');
  });
});
