import { expect, it } from 'vitest';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  askAbout,
  callIds,
  claimMany,
  claimOne,
  detail,
  EXPIRED,
  holdOne,
  MAY_HAVE_RUN,
  newWaiter,
  openSession,
  ownedBy,
  reapRequest,
  ROOMY,
  settleRequest,
  startRequest,
  TIMED_OUT,
} from '../fixtures.ts';
import {
  auditOf,
  withEnding,
  drainReplies,
  reclaimOne,
  recordOf,
  sameBytes,
  storeTimeAfter,
  storeTimePasses,
  terminalEvents,
} from '../observe.ts';
import type { Scene } from '../scene.ts';

const SOON_MS = 20;

export function describeDeadlines(scene: Scene): void {
  it('reap settles a queued call past its deadline: outcome, reply, audit, no delivery', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const callId = await acceptOne(store, session, { deadlineMs: SOON_MS, waiter });
    await storeTimePasses(store, SOON_MS);

    const audit = detail('reaper');
    expect(await store.reapCalls(reapRequest(session.lane, { audit }))).toEqual({ expired: [callId], overdue: [] });
    expect(await recordOf(store, callId)).toMatchObject({ state: 'settled', outcome: sameBytes(EXPIRED) });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await drainReplies(store, session.lane, waiter.callerId)).toEqual([
      { kind: 'settled', correlationId: waiter.correlationId, outcome: sameBytes(EXPIRED) },
    ]);
    expect(await auditOf(store, callId)).toEqual([
      expect.objectContaining({
        event: 'call.expired',
        detail: withEnding(audit, { outcome: 'expired', executed: 'no' }),
      }),
    ]);
  });

  it('reap leaves calls alone whose deadline has not come', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const queued = await acceptOne(store, session);
    const answer = await store.reapCalls(reapRequest(session.lane, { overdueMs: 0 }));
    expect(answer).toEqual({ expired: [], overdue: [] });
    expect((await recordOf(store, queued)).state).toBe('queued');
  });

  it('reap of an expired call happens once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const callId = await acceptOne(store, session, { deadlineMs: SOON_MS });
    await storeTimePasses(store, SOON_MS);
    await store.reapCalls(reapRequest(session.lane));
    expect(await store.reapCalls(reapRequest(session.lane))).toEqual({ expired: [], overdue: [] });
    expect(await terminalEvents(store, callId)).toEqual(['call.expired']);
  });

  it('reap takes no more than asked for and finds the rest next time', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const accepted = await acceptMany(store, session, 3, { deadlineMs: SOON_MS });
    await storeTimePasses(store, SOON_MS);
    const first = (await store.reapCalls(reapRequest(session.lane, { limit: 2 }))).expired;
    const second = (await store.reapCalls(reapRequest(session.lane, { limit: 2 }))).expired;
    expect(first).toHaveLength(2);
    expect([...first, ...second].sort()).toEqual([...accepted].sort());
  });

  it('reap reaches calls in the backlog', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = { ...ROOMY, subjectWindow: 1 };
    const first = await acceptOne(store, session, { admission });
    const waiting = await acceptOne(store, session, { admission, deadlineMs: SOON_MS });
    const last = await acceptOne(store, session, { admission });
    await storeTimePasses(store, SOON_MS);
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([waiting]);
    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(first);
    await store.settleCall(settleRequest(delivery));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([last]);
  });

  it('reap makes room for the next of the subject', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = { ...ROOMY, subjectWindow: 1 };
    await acceptOne(store, session, { admission, deadlineMs: SOON_MS });
    const next = await acceptOne(store, session, { admission });
    await storeTimePasses(store, SOON_MS);
    await store.reapCalls(reapRequest(session.lane));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([next]);
  });

  it.each([
    ['unsafe', 'that it may have run', MAY_HAVE_RUN],
    ['read', 'that it timed out', TIMED_OUT],
    ['idempotent', 'that it timed out', TIMED_OUT],
  ] as const)('reap gives the worker of a started %s call overdueMs, then says %s', async (effect, _said, outcome) => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const overdueMs = 600;
    // Long enough that the call starts in time on a busy machine.
    const delivery = await holdOne(store, session, { deadlineMs: 400, waiter });
    const { callId } = delivery;
    expect(await store.startCall(startRequest(delivery, { effect }))).toMatchObject({ kind: 'started' });
    await storeTimeAfter(store, delivery.deadline);

    const early = await store.reapCalls(reapRequest(session.lane, { overdueMs }));
    const wasEarly = (await store.now()) < delivery.deadline + overdueMs;
    expect(wasEarly && early.overdue.length > 0, 'settled before it was overdue').toBe(false);
    await storeTimeAfter(store, delivery.deadline + overdueMs);
    const late = await store.reapCalls(reapRequest(session.lane, { overdueMs }));

    expect([...early.overdue, ...late.overdue]).toEqual([callId]);
    expect([...early.expired, ...late.expired]).toEqual([]);
    expect(await recordOf(store, callId)).toMatchObject({ state: 'settled', outcome: sameBytes(outcome) });
    expect(await drainReplies(store, session.lane, waiter.callerId)).toHaveLength(1);
    expect(await store.settleCall(settleRequest(delivery))).toBe('fenced');
    expect(await terminalEvents(store, callId)).toHaveLength(1);
  });

  it('a worker may still settle a started call after the deadline, before it is overdue', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { deadlineMs: 300 });
    await store.startCall(startRequest(delivery));
    await storeTimeAfter(store, delivery.deadline);
    await store.reapCalls(reapRequest(session.lane));
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
    expect(await store.reapCalls(reapRequest(session.lane, { overdueMs: 0 }))).toEqual({ expired: [], overdue: [] });
  });

  it('a call held without a start mark is terminal at the latest when it is overdue', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { deadlineMs: 100 });
    await storeTimeAfter(store, delivery.deadline + 5);
    const { expired, overdue } = await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect([...expired, ...overdue]).toEqual([delivery.callId]);
    expect((await recordOf(store, delivery.callId)).state).toBe('settled');
    expect(await store.settleCall(settleRequest(delivery))).toBe('fenced');
  });

  it('reap never says of a started unsafe call that nothing ran, wherever the call stands', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const startOne = async () => {
      const delivery = await holdOne(store, session, { deadlineMs: 2_000 });
      expect(await store.startCall(startRequest(delivery))).toMatchObject({ kind: 'started' });
      return delivery;
    };
    const [queued, parked] = [await startOne(), await startOne()];
    await store.abandonCall({ ...ownedBy(queued), handedBack: false });
    const taken = await reclaimOne(store, parked);
    await askAbout(store, taken, { timeoutMs: 100 });
    await storeTimeAfter(store, parked.deadline + 105);

    const { expired, overdue } = await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect([...expired, ...overdue].sort()).toEqual([queued.callId, parked.callId].sort());
    expect((await recordOf(store, queued.callId)).outcome).toEqual(sameBytes(MAY_HAVE_RUN));
    expect((await recordOf(store, parked.callId)).outcome).toEqual(sameBytes(MAY_HAVE_RUN));
  });

  it('an expired call replays', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const callId = await acceptOne(store, session, { key: 'k', deadlineMs: SOON_MS });
    await storeTimePasses(store, SOON_MS);
    await store.reapCalls(reapRequest(session.lane));
    const answer = await store.acceptCall(acceptRequest(session, { key: 'k' }));
    expect(answer).toEqual({ kind: 'replayed', callId, outcome: sameBytes(EXPIRED) });
  });
}
