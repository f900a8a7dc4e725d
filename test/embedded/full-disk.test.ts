import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlaneError } from '../../src/domain/errors/errors.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { acceptOne, claimMany, openSession, settleRequest } from '../contract/fixtures.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { openDirectStore } from './direct-store.ts';
import { expectNothingLost, startLoad } from './store-load.ts';
import { canMount, startOwnerOnSmallDisk } from './store-process.ts';

const MIB = 1024 * 1024;

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder('sallyport-full');
});
afterEach(() => folder.remove());

const codeOf = (asking: Promise<unknown>): Promise<unknown> =>
  asking.then(
    () => 'answered',
    (error: unknown) => (error instanceof PlaneError ? error.code : error),
  );

/** Expects that a new call is accepted and that all open calls can be settled. */
async function expectToWork(store: Store): Promise<void> {
  const callId = await acceptOne(store, await openSession(store));
  const open = new Set((await store.listCalls({ limit: 10_000 })).map((call) => call.callId));
  expect(open).toContain(callId);
  const claimed = await claimMany(store, { limit: 10_000 });
  expect(new Set(await Promise.all(claimed.map((delivery) => store.settleCall(settleRequest(delivery)))))).toEqual(
    new Set(['settled']),
  );
  expect(claimed.map((delivery) => delivery.callId)).toContain(callId);
}

it('a file that may not grow says STORE_FULL, keeps what was answered, and goes on when it may grow again', async () => {
  const { store, database, remove } = openDirectStore();
  database.execute('PRAGMA max_page_count = 400');
  const load = await startLoad(store);
  expect(new Set(await load.ended)).toEqual(new Set(['STORE_FULL']));
  expect(load.settled.length).toBeGreaterThan(10);
  database.execute('PRAGMA max_page_count = 1000000');
  await expectNothingLost(store, load);
  await expectToWork(store);
  remove();
});

it.skipIf(!canMount())(
  'a full disk says STORE_FULL to other processes, keeps what was answered, and the owner goes on when there is room',
  async () => {
    const { owner, files } = await startOwnerOnSmallDisk(folder.path, 24);
    const ballast = join(files, 'ballast');
    writeFileSync(ballast, Buffer.alloc(16 * MIB));
    const store = await openEmbeddedStore({ folder: join(files, 'store'), mode: 'connect' });
    const load = await startLoad(store);
    expect(new Set(await load.ended)).toEqual(new Set(['STORE_FULL']));
    expect(load.settled.length).toBeGreaterThan(50);
    // The disk is still full: stored data can be read, and nothing can be added.
    expect(await store.readCall(load.accepted[0]!)).toBeDefined();
    expect(await codeOf(openSession(store).then((session) => acceptOne(store, session, { arguments: wide() })))).toBe(
      'STORE_FULL',
    );
    rmSync(ballast);
    await expectNothingLost(store, load);
    await expectToWork(store);
    await store.close();
    await owner.stop();
  },
);

/** Arguments that are too large for the free space in existing pages. */
const wide = (): string => JSON.stringify({ text: 'x'.repeat(512 * 1024) });
