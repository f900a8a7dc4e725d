import { afterEach, expect, it } from 'vitest';
import {
  acceptRequest,
  claimMany,
  claimOne,
  newWaiter,
  openSession,
  POOL,
  settleRequest,
  startRequest,
} from '../../../test/contract/fixtures.ts';
import { openDirectStore, type DirectStore, type DirectStoreOptions } from '../../../test/embedded/direct-store.ts';
import { newCallerId, newWorkerId } from '../../domain/identity/new-id.ts';
import type { Database } from '../sqlite/database.ts';

const opened: DirectStore[] = [];
function open(options?: DirectStoreOptions): DirectStore {
  const direct = openDirectStore(options);
  opened.push(direct);
  return direct;
}
afterEach(() => {
  for (const direct of opened.splice(0)) direct.remove();
});

it('requests that arrive together share one commit', async () => {
  const { store, groupCommit } = open();
  const session = await openSession(store);
  const before = groupCommit.stats.commits;
  await Promise.all(Array.from({ length: 100 }, () => store.acceptCall(acceptRequest(session))));
  expect(groupCommit.stats.commits - before).toBe(1);
});

it('a request that cannot be carried out does not harm its neighbours', async () => {
  const { store } = open();
  const session = await openSession(store);
  const bad = { ...acceptRequest(session), deadlineMs: Number.NaN };
  const good = Array.from({ length: 5 }, () => acceptRequest(session));
  const answers = await Promise.allSettled(
    [...good.slice(0, 3), bad, ...good.slice(3)].map((r) => store.acceptCall(r)),
  );
  expect(answers.map((answer) => answer.status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(await store.readCall(bad.callId)).toBeUndefined();
  expect(await claimMany(store)).toHaveLength(5);
});

it('calls of a commit that was rolled back are counted once', async () => {
  const { store } = open();
  const session = await openSession(store);
  const admission = { ...acceptRequest(session).admission, liveCalls: 3 };
  const accept = (more: { deadlineMs?: number } = {}) =>
    store.acceptCall(acceptRequest(session, { admission, ...more }));
  await Promise.allSettled([accept(), accept(), accept({ deadlineMs: Number.NaN })]);
  expect(await accept()).toMatchObject({ kind: 'accepted' });
  expect(await accept()).toMatchObject({ kind: 'overloaded', what: 'calls' });
});

it('a delivery of a commit that was rolled back is given once, and its start counts once', async () => {
  const { store } = open();
  const session = await openSession(store);
  await store.acceptCall(acceptRequest(session));
  const breaking = () => store.acceptCall(acceptRequest(session, { deadlineMs: Number.NaN })).catch(() => undefined);
  const [delivery] = await Promise.all([claimOne(store), breaking()]);
  expect(delivery.fence).toBe(1);
  const [started] = await Promise.all([store.startCall(startRequest(delivery)), breaking()]);
  expect(started).toEqual({ kind: 'started', starts: 1 });
  expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
});

it('a session that is used in a commit that was rolled back is as it was', async () => {
  let now = 1_000;
  const { store } = open({ now: () => now });
  const session = await openSession(store);
  now = 2_000;
  const broken = store.acceptCall(acceptRequest(session, { deadlineMs: Number.NaN }));
  await expect(broken).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(await store.readSession(session.id)).toMatchObject({ lastSeenAt: 1_000 });
});

it('a waiting claim is served in the commit that brings the call', async () => {
  const { store, groupCommit } = open();
  const session = await openSession(store);
  const claim = claimMany(store, { waitMs: 60_000 });
  await store.now();
  const before = groupCommit.stats.commits;
  await store.acceptCall(acceptRequest(session));
  expect(await claim).toHaveLength(1);
  expect(groupCommit.stats.commits - before).toBe(1);
});

it('a claim finds the call that comes in the same commit after it', async () => {
  const { store } = open();
  const session = await openSession(store);
  const [deliveries] = await Promise.all([
    claimMany(store, { waitMs: 60_000 }),
    store.acceptCall(acceptRequest(session)),
  ]);
  expect(deliveries).toHaveLength(1);
});

it('a call goes to who waited for it, though its bringer asks for calls in the same breath', async () => {
  const { store } = open();
  const session = await openSession(store);
  const [waits, brings] = [newWorkerId(), newWorkerId()];
  await store.acceptCall(acceptRequest(session));
  const held = await claimOne(store, { workerId: brings });
  const claim = claimMany(store, { workerId: waits, waitMs: 60_000 });
  await store.now();
  const [, own] = await Promise.all([
    store.abandonCall({ ...held, handedBack: true }),
    claimMany(store, { workerId: brings }),
  ]);
  expect(own).toEqual([]);
  expect(await claim).toMatchObject([{ callId: held.callId, workerId: waits }]);
});

it('a peer that left while it waited is handed no call', async () => {
  const { store, asPeer, groupCommit } = open();
  const session = await openSession(store);
  const peer = {};
  let handedOver = false;
  void claimMany(asPeer(peer), { waitMs: 60_000 }).then(() => (handedOver = true));
  await store.now();
  groupCommit.withdraw(peer);
  await store.acceptCall(acceptRequest(session));
  expect(await claimMany(store)).toHaveLength(1);
  expect(handedOver).toBe(false);
});

it('a poll that fails does not harm the request that wakes it', async () => {
  const { store } = open();
  const session = await openSession(store);
  const callerId = newCallerId();
  await store.acceptCall(acceptRequest(session, { waiter: newWaiter({ callerId }) }));
  const delivery = await claimOne(store);
  let poisoned = false;
  const poll = store.takeReplies({
    lane: 0,
    callerId,
    waitMs: 60_000,
    get acknowledged() {
      if (poisoned) throw new Error('poisoned');
      return [];
    },
  });
  await store.now();
  poisoned = true;
  expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
  await expect(poll).rejects.toMatchObject({ code: 'INTERNAL' });
});

it('a full disk refuses an accept with STORE_FULL, leaves nothing of it, and the store goes on', async () => {
  const { store, database } = open();
  const session = await openSession(store);
  const { page_count: pages } = database.get<{ page_count: number }>('PRAGMA page_count')!;
  database.execute(`PRAGMA max_page_count = ${pages + 8}`);
  const large = acceptRequest(session, { envelope: new Uint8Array(200_000) });
  const small = acceptRequest(session);
  const [refused, accepted] = await Promise.allSettled([store.acceptCall(large), store.acceptCall(small)]);
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'STORE_FULL' } });
  expect(accepted).toMatchObject({ status: 'fulfilled', value: { kind: 'accepted' } });
  expect(await store.readCall(large.callId)).toBeUndefined();
  database.execute(`PRAGMA max_page_count = 1000000`);
  expect(await store.acceptCall(large)).toMatchObject({ kind: 'accepted' });
});

it('a commit that fails stops the store: nothing is answered as done, and nothing is tried again', async () => {
  let commits = 0;
  let broken = false;
  const breakDatabase = (database: Database): Database => {
    const commit = database.commit.bind(database);
    database.commit = () => {
      commits += 1;
      // The operating system reports a lost write only once, at the fsync that follows it.
      if (broken && commits > 0) throw Object.assign(new Error('disk I/O error'), { errcode: 1034 });
      commit();
    };
    return database;
  };
  const { store } = open({ breakDatabase });
  const session = await openSession(store);
  broken = true;
  commits = 0;
  const answers = await Promise.allSettled(Array.from({ length: 3 }, () => store.acceptCall(acceptRequest(session))));
  broken = false;
  expect(answers.map((answer) => answer.status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect(store.now()).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(commits).toBe(1);
});

it('a closed store refuses waiting and new requests', async () => {
  const { store } = open();
  const poll = store.claimCalls({ lane: 0, pool: POOL, workerId: newWorkerId(), limit: 1, waitMs: 60_000 });
  await store.now();
  await store.close();
  await expect(poll).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(store.now()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});
