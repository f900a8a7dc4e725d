import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CallId } from '../../src/domain/ids.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { PlaneError } from '../../src/domain/errors.ts';
import { acceptOne, claimMany, newWaiter, openSession, settleRequest } from '../contract/fixtures.ts';
import { drainReplies, readWholeAudit, recordOf } from '../contract/observe.ts';
import { eventually, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startOwner, startOwnerWithSmallFiles } from './store-process.ts';

type OpenedStore = Awaited<ReturnType<typeof openEmbeddedStore>>;

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder('sallyport-killed');
});
afterEach(() => folder.remove());

/** Does a step over and over until the store fails; answers with the code it failed with. */
async function untilFailure(step: () => Promise<void>): Promise<string> {
  for (;;) {
    try {
      await step();
    } catch (error) {
      if (error instanceof PlaneError) return error.code;
      throw error;
    }
  }
}

interface Load {
  readonly accepted: CallId[];
  readonly settled: CallId[];
  readonly waiter: ReturnType<typeof newWaiter>;
  /** The codes with which the store ended the callers and workers. */
  readonly ended: Promise<string[]>;
}

/** Callers and workers that write down only what was answered. */
async function startLoad(store: OpenedStore): Promise<Load> {
  const accepted: CallId[] = [];
  const settled: CallId[] = [];
  const waiter = newWaiter();
  const session = await openSession(store);
  const caller = () =>
    untilFailure(async () => void accepted.push(await acceptOne(store, session, { waiter, arguments: '{"n":1}' })));
  const worker = () =>
    untilFailure(async () => {
      for (const delivery of await claimMany(store, { waitMs: 1_000, limit: 8 })) {
        expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
        settled.push(delivery.callId);
      }
    });
  const ended = Promise.all([...Array.from({ length: 16 }, caller), worker(), worker()]);
  return { accepted, settled, waiter, ended };
}

async function expectNothingLost(store: OpenedStore, { accepted, settled, waiter }: Load): Promise<void> {
  const missing = [];
  for (const callId of accepted) if ((await store.readCall(callId)) === undefined) missing.push(callId);
  expect(missing, 'accepted calls that are gone').toEqual([]);
  for (const callId of settled) expect(await recordOf(store, callId)).toMatchObject({ state: 'settled' });
  // Outcome, reply and audit record are one step: there are as many of each, answered or not.
  const audit = await readWholeAudit(store, 0);
  const replies = await drainReplies(store, 0, waiter.callerId);
  expect(new Set(audit.map((entry) => entry.callId)).size).toBe(audit.length);
  expect(replies).toHaveLength(audit.length);
  expect(audit.map((entry) => entry.callId)).toEqual(expect.arrayContaining(settled));
}

it('every call that was accepted or settled is still so after the owner was killed under load', async () => {
  const owner = await startOwner(folder.path);
  const client = await openEmbeddedStore({ folder: folder.path, mode: 'connect', patienceMs: 0 });
  const load = await startLoad(client);
  await eventually(() => load.settled.length >= 300, { timeoutMs: 30_000, what: 'load on the store' });
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
