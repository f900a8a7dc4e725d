import { expect, it } from 'vitest';
import { newWorkerId, randomId } from '../../../src/domain/identity/new-id.ts';
import {
  ALICE,
  allow,
  APPROVAL_EXPIRED,
  askAbout,
  askRequest,
  BOB,
  callIds,
  cancelRequest,
  CANCELLED_IF_HELD,
  claimMany,
  claimOne,
  decideRequest,
  detail,
  encodedOutcome,
  EXPIRED,
  holdOne,
  newWaiter,
  openSession,
  reapRequest,
  SESSION_ENDED,
  settleRequest,
  startRequest,
  TIMED_OUT,
} from '../fixtures.ts';
import {
  auditEvents,
  auditOf,
  withEnding,
  drainReplies,
  reclaimOne,
  recordOf,
  sameBytes,
  storeTimeAfter,
  storeTimePasses,
} from '../observe.ts';
import type { Scene } from '../scene.ts';

const SOON_MS = 60;
/** Longer than a step of the store takes on a busy machine. */
const KEPT_MS = 1000;

export function describeApprovalEnds(scene: Scene): void {
  it('a parked call outlives its deadline, and expires with its approval without a decision', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const patient = await holdOne(store, session, { deadlineMs: 1_500 });
    const brief = await holdOne(store, session, { waiter });
    const waiting = await askAbout(store, patient);
    const asked = await askAbout(store, brief, { timeoutMs: 200 });
    await storeTimeAfter(store, Math.max((await store.now()) + 205, patient.deadline));

    expect((await store.reapCalls(reapRequest(session.lane, { audit: detail('reaped') }))).expired).toEqual([
      brief.callId,
    ]);
    expect(await recordOf(store, brief.callId)).toMatchObject({
      state: 'settled',
      outcome: sameBytes(APPROVAL_EXPIRED),
    });
    expect(await store.readApproval(asked.question.id)).toMatchObject({ state: 'expired', resolution: 'timeout' });
    expect(await drainReplies(store, session.lane, waiter.callerId)).toHaveLength(1);
    expect(await auditOf(store, brief.callId)).toEqual([
      expect.objectContaining({ event: 'approval.requested' }),
      expect.objectContaining({ event: 'approval.expired', detail: sameBytes(detail('reaped')) }),
      expect.objectContaining({
        event: 'call.expired',
        detail: withEnding(detail('reaped'), { outcome: 'denied', executed: 'no' }),
      }),
    ]);
    expect(await store.decideApproval(decideRequest(asked))).toEqual({ kind: 'already-decided', state: 'expired' });
    expect((await recordOf(store, patient.callId)).state).toBe('parked');
    await allow(store, waiting);
    expect(await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })))).toBe('settled');
  });

  it('a yes that was not enough expires with its approval', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const asked = await askAbout(store, delivery, { timeoutMs: SOON_MS, question: { quorum: 2 } });
    await store.decideApproval(decideRequest(asked));
    await storeTimePasses(store, SOON_MS + 5);
    await store.reapCalls(reapRequest(session.lane));
    const expired = { kind: 'already-decided', state: 'expired' };
    for (const by of [ALICE, BOB]) {
      expect(await store.decideApproval(decideRequest(asked, 'allow-once', { by }))).toEqual(expired);
    }
  });

  it('reap is repeated without a second ending', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session), { timeoutMs: SOON_MS });
    await storeTimePasses(store, SOON_MS + 5);
    await store.reapCalls(reapRequest(session.lane));
    const events = await auditEvents(store, asked.callId);
    expect(await store.reapCalls(reapRequest(session.lane))).toEqual({ expired: [], overdue: [] });
    expect(await auditEvents(store, asked.callId)).toEqual(events);
  });

  it.each(['revoked', 'without its run'] as const)(
    'a parked call whose session is %s ends at the next reap, with its approval',
    async (how) => {
      const store = await scene.open();
      const session = await openSession(store);
      const waiter = newWaiter();
      const delivery = await holdOne(store, session, { waiter });
      const asked = await askAbout(store, delivery, { callback: true });
      expect(await store.reapCalls(reapRequest(session.lane))).toEqual({ expired: [], overdue: [] });
      if (how === 'revoked') await store.revokeSession({ session: session.id });
      else await store.endRun({ session: session.id, run: session.run });
      expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([delivery.callId]);
      expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(SESSION_ENDED));
      expect(await store.readApproval(asked.question.id)).toMatchObject({
        state: 'cancelled',
        resolution: 'cancelled',
        callback: 'waiting',
      });
      expect(await drainReplies(store, session.lane, waiter.callerId)).toHaveLength(1);
      expect(await auditEvents(store, delivery.callId)).toEqual([
        'approval.requested',
        'approval.cancelled',
        'call.settled',
      ]);
    },
  );

  it('a parked call whose session reached its absolute end, ends at the next reap', async () => {
    const store = await scene.open();
    const session = await openSession(store, { lifetimeMs: 1_500 });
    const asked = await askAbout(store, await holdOne(store, session));
    await storeTimeAfter(store, session.expiresAt);
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([asked.callId]);
    expect(await store.readApproval(asked.question.id)).toMatchObject({ state: 'cancelled' });
    expect((await recordOf(store, asked.callId)).outcome).toEqual(sameBytes(SESSION_ENDED));
  });

  it('a question ends with its session at the latest, and says so from the start', async () => {
    const store = await scene.open();
    const session = await openSession(store, { lifetimeMs: 1_500 });
    const asked = askRequest(await holdOne(store, session));
    const { id, binding } = asked.question;
    expect(await store.askApproval(asked)).toEqual({ kind: 'asked', expiresAt: session.expiresAt });
    expect(await store.readApproval(id)).toMatchObject({ expiresAt: session.expiresAt });
    await storeTimeAfter(store, session.expiresAt);
    // The answer is the same before the reap and after it.
    const cancelled = { kind: 'already-decided', state: 'cancelled' };
    expect(await store.decideApproval(decideRequest(asked))).toEqual(cancelled);
    expect(await store.revealApproval({ id, binding, by: ALICE, audit: detail('seen') })).toEqual(cancelled);
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([asked.callId]);
    expect(await store.decideApproval(decideRequest(asked))).toEqual(cancelled);
  });

  it('the end of another run leaves a parked call where it is', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const run = randomId() as typeof session.run;
    await store.openRun({ session: session.id, run });
    const asked = await askAbout(store, await holdOne(store, session), { timeoutMs: 1_500 });
    await store.endRun({ session: session.id, run });
    expect(await store.reapCalls(reapRequest(session.lane))).toEqual({ expired: [], overdue: [] });
    expect((await store.readApproval(asked.question.id))?.state).toBe('pending');
    await storeTimePasses(store, 1_505);
    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([asked.callId]);
    expect((await store.readApproval(asked.question.id))?.state).toBe('expired');
  });

  it('cancel, expiry and a lost session do not say of a call that may have run that it did not', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    await store.startCall(startRequest(lost, { effect: 'read' }));
    const started = await askAbout(store, await reclaimOne(store, lost), { timeoutMs: SOON_MS });
    const [cancelled, expired] = [
      await askAbout(store, await holdOne(store, session), { mayHaveRun: true }),
      await askAbout(store, await holdOne(store, session), { mayHaveRun: true, timeoutMs: SOON_MS }),
    ];
    await store.cancelCall(cancelRequest(cancelled.callId));
    expect((await recordOf(store, cancelled.callId)).outcome).toEqual(sameBytes(CANCELLED_IF_HELD));
    await storeTimePasses(store, SOON_MS + 5);
    await store.reapCalls(reapRequest(session.lane));
    for (const { callId, question } of [started, expired]) {
      expect((await recordOf(store, callId)).outcome).toEqual(sameBytes(TIMED_OUT));
      expect((await store.readApproval(question.id))?.state).toBe('expired');
    }
  });

  it('an allowed call that no worker took up before its deadline has not run, and one that a worker held may have', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [idle, taken] = [
      await holdOne(store, session, { deadlineMs: 1_500 }),
      await holdOne(store, session, { deadlineMs: 1_500 }),
    ];
    await allow(store, await askAbout(store, taken), { deadlineMs: 1 });
    const held = await claimOne(store, { lane: session.lane });
    await store.abandonCall({ ...held, handedBack: false });
    await allow(store, await askAbout(store, idle), { deadlineMs: 1 });
    for (const { callId } of [idle, taken]) await storeTimeAfter(store, (await recordOf(store, callId)).deadline + 5);
    const { expired, overdue } = await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect(expired).toEqual([idle.callId]);
    expect(overdue).toEqual([taken.callId]);
    expect((await recordOf(store, idle.callId)).outcome).toEqual(sameBytes(EXPIRED));
    expect((await recordOf(store, taken.callId)).outcome).toEqual(sameBytes(TIMED_OUT));
  });

  it('approvals are forgotten with their call, and not before', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session);
    const one = await askAbout(store, first, { callback: true });
    await allow(store, one);
    const two = await askAbout(store, await claimOne(store, { lane: session.lane }), { callback: true });
    await allow(store, two);
    const delivery = await claimOne(store, { lane: session.lane });
    const denied = await askAbout(store, await holdOne(store, session), { callback: true });
    await store.decideApproval(decideRequest(denied, 'deny', { retentionMs: SOON_MS }));
    await storeTimePasses(store, SOON_MS * 2);
    await store.reapCalls(reapRequest(session.lane));
    const left = async () => (await store.listApprovals({ limit: 10 })).map(({ question }) => question.id).sort();
    expect(await store.readApproval(denied.question.id)).toBeUndefined();
    expect(await left()).toEqual([one.question.id, two.question.id].sort());
    const settledAfter = await store.now();
    await store.settleCall(settleRequest(delivery, encodedOutcome('ok'), { retentionMs: KEPT_MS }));
    await store.reapCalls(reapRequest(session.lane));
    const kept = (await left()).length;
    // On a busy machine the time may already be over; then there is nothing left to keep.
    const isOver = (await store.now()) - settledAfter >= KEPT_MS;
    expect(isOver || kept === 2).toBe(true);
    // The Redis store forgets in steps, so a little later.
    await storeTimePasses(store, KEPT_MS * 1.1);
    await store.reapCalls(reapRequest(session.lane));
    expect(await left()).toEqual([]);
    expect(await store.readApproval(one.question.id)).toBeUndefined();
    const claim = { lane: session.lane, workerId: newWorkerId(), claimId: randomId(), limit: 10, leaseMs: 1 };
    expect(await store.claimCallbacks(claim)).toEqual([]);
  });

  it('every ending of a parked call leaves nothing to claim and starts the idle clock again', async () => {
    const store = await scene.open();
    const session = await openSession(store, { idleMs: 1_000 });
    const [cancelled, denied] = [
      await askAbout(store, await holdOne(store, session)),
      await askAbout(store, await holdOne(store, session)),
    ];
    await store.cancelCall(cancelRequest(cancelled.callId));
    await store.decideApproval(decideRequest(denied, 'deny'));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([]);
    await storeTimePasses(store, 1_005);
    expect(await store.touchSession(session.id)).toBe('ended');
  });
}
