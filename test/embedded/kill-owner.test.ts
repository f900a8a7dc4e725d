import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { expectNothingLost, startLoad } from './store-load.ts';
import { startOwner, startOwnerWithSmallFiles } from './store-process.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder('sallyport-killed');
});
afterEach(() => folder.remove());

it('every call that was accepted or settled is still so after the owner was killed under load', async () => {
  const owner = await startOwner(folder.path);
  const client = await openEmbeddedStore({ folder: folder.path, mode: 'connect', patienceMs: 0 });
  const load = await startLoad(client);
  await eventually(() => load.settled.length >= 300, { what: 'load on the store' });
  owner.kill('SIGKILL');
  expect(new Set(await load.ended)).toEqual(new Set(['STORE_UNAVAILABLE']));
  await client.close();
  const next = await openEmbeddedStore({ folder: folder.path, mode: 'own' });
  await expectNothingLost(next, load);
  await next.close();
});

it('a write that the system refuses stops the store, and what was answered before is still there', async () => {
  const owner = await startOwnerWithSmallFiles(folder.path, 2048);
  const client = await openEmbeddedStore({ folder: folder.path, mode: 'connect' });
  const load = await startLoad(client);
  expect(new Set(await load.ended)).toEqual(new Set(['STORE_FAILED']));
  await expect(client.now()).rejects.toMatchObject({ code: 'STORE_FAILED' });
  await client.close();
  await owner.stop();
  const next = await openEmbeddedStore({ folder: folder.path, mode: 'own' });
  expect(load.accepted.length).toBeGreaterThan(10);
  await expectNothingLost(next, load);
  await next.close();
});
