import { expect, it } from 'vitest';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  askAbout,
  callIds,
  CANCELLED,
  CANCELLED_IF_HELD,
  CANCELLED_IF_PARKED,
  cancelRequest,
  claimMany,
  claimOne,
  decideRequest,
  encodedOutcome,
  holdOne,
  newWaiter,
  openSession,
  ownedBy,
  ROOMY,
  settleRequest,
  startRequest,
  TOOL,
  type TestSession,
} from '../fixtures.ts';
import { auditEvents, drainReplies, laneState, recordOf, sameBytes, terminalEvents } from '../observe.ts';
import { ENVELOPE_VERSION } from '../../../src/domain/call/call.ts';
import { encodeEnvelope } from '../../../src/domain/call/envelope.ts';
import { callIdFor } from '../../../src/domain/identity/new-id.ts';
import type { Scene } from '../scene.ts';

const envelopeOf = ({ id, run }: TestSession, toolDigest: string, more: string): Uint8Array =>
  encodeEnvelope({
    version: ENVELOPE_VERSION,
    session: id,
    run,
    tool: TOOL,
    toolDigest,
    arguments: JSON.stringify({ more }),
    key: 'k',
    depth: 0,
  });

const windowOfOne = { ...ROOMY, subjectWindow: 1 };

export function describeCancel(scene: Scene): void {
  it('cancel ends a queued call at once: outcome, reply, audit, no delivery', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const callId = await acceptOne(store, session, { waiter });
    expect(await store.cancelCall(cancelRequest(callId))).toBe('cancelled');

    expect(await recordOf(store, callId)).toMatchObject({ state: 'settled', outcome: sameBytes(CANCELLED) });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await auditEvents(store, callId)).toEqual(['call.cancelled']);
    expect(await drainReplies(store, session.lane, waiter.callerId)).toEqual([
      { kind: 'settled', correlationId: waiter.correlationId, outcome: sameBytes(CANCELLED) },
    ]);
  });

  it('cancel says of a held call of an unsafe tool that it did not run, unless its start is marked or it names another digest', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const pad = 'x'.repeat(100_000);
    const cases = [
      { toolDigest: 'd-1', more: '', expected: CANCELLED },
      { toolDigest: 'd-1', more: pad, expected: CANCELLED },
      { toolDigest: 'd-2', more: '', expected: CANCELLED_IF_HELD },
    ];
    for (const { toolDigest, more, expected } of cases) {
      const held = await holdOne(store, session, { envelope: envelopeOf(session, toolDigest, more) });
      expect(await store.cancelCall({ ...cancelRequest(held.callId), unsafeDigest: 'd-1' })).toBe('cancelled');
      expect(await recordOf(store, held.callId)).toMatchObject({ outcome: sameBytes(expected) });
      // The worker is fenced, so the recorded outcome stays true.
      expect(await store.startCall(startRequest(held, { effect: 'unsafe' }))).toEqual({ kind: 'fenced' });
    }
    const started = await holdOne(store, session, { envelope: envelopeOf(session, 'd-1', '') });
    await store.startCall(startRequest(started, { effect: 'unsafe' }));
    expect(await store.cancelCall({ ...cancelRequest(started.callId), unsafeDigest: 'd-1' })).toBe('cancelling');
    const unreadable = await holdOne(store, session, { envelope: Buffer.from([0xc1]) });
    await store.cancelCall({ ...cancelRequest(unreadable.callId), unsafeDigest: 'd-1' });
    expect(await recordOf(store, unreadable.callId)).toMatchObject({ outcome: sameBytes(CANCELLED_IF_HELD) });
  });

  it('a cancelled call replays its cancellation', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const callId = await acceptOne(store, session, { key: 'k' });
    await store.cancelCall(cancelRequest(callId));
    const answer = await store.acceptCall(acceptRequest(session, { key: 'k' }));
    expect(answer).toEqual({ kind: 'replayed', callId, outcome: sameBytes(CANCELLED) });
  });

  it('cancel takes a call out of the backlog and keeps the order of the others', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, second, third] = await acceptMany(store, session, 3, { admission: windowOfOne });
    expect(await store.cancelCall(cancelRequest(second!))).toBe('cancelled');
    expect(await recordOf(store, second!)).toMatchObject({ state: 'settled', outcome: sameBytes(CANCELLED) });
    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(first);
    await store.settleCall(settleRequest(delivery));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([third]);
  });

  it('cancel of a queued call makes room for the next of the subject', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, second] = await acceptMany(store, session, 2, { admission: windowOfOne });
    await store.cancelCall(cancelRequest(first!));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });

  it('cancel ends a parked call with its approval, which cannot be decided then', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const asked = await askAbout(store, delivery);
    expect(await store.cancelCall(cancelRequest(delivery.callId))).toBe('cancelled');
    expect(await store.decideApproval(decideRequest(asked))).toEqual({ kind: 'already-decided', state: 'cancelled' });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    const outcome = sameBytes(CANCELLED_IF_PARKED);
    expect(await recordOf(store, delivery.callId)).toMatchObject({ state: 'settled', outcome });
    expect(await auditEvents(store, delivery.callId)).toEqual([
      'approval.requested',
      'approval.cancelled',
      'call.cancelled',
    ]);
  });

  it('cancel of a held call without a start mark ends it with the outcome for held calls and fences its worker', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const before = await laneState(store, session.lane);
    expect(await store.cancelCall(cancelRequest(delivery.callId))).toBe('cancelled');

    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(CANCELLED_IF_HELD));
    expect((await laneState(store, session.lane)).cancelSequence).not.toBe(before.cancelSequence);
    const [renewed] = await store.renewCalls({ lane: session.lane, calls: [ownedBy(delivery)] });
    expect(['fenced', 'cancel']).toContain(renewed);
    expect(await store.settleCall(settleRequest(delivery))).toBe('fenced');
    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(CANCELLED_IF_HELD));
    expect(await auditEvents(store, delivery.callId)).toEqual(['call.cancelled']);
  });

  it('cancel of a running call is heard by its worker, whose outcome then stands', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const delivery = await holdOne(store, session, { waiter });
    await store.startCall(startRequest(delivery));
    const before = await laneState(store, session.lane);
    expect(await store.cancelCall(cancelRequest(delivery.callId))).toBe('cancelling');

    expect((await laneState(store, session.lane)).cancelSequence).not.toBe(before.cancelSequence);
    const { lane } = await store.claimCalls({
      lane: session.lane,
      pool: delivery.pool,
      workerId: delivery.workerId,
      limit: 1,
      waitMs: 0,
    });
    expect(lane.cancelSequence).not.toBe(before.cancelSequence);
    expect(await recordOf(store, delivery.callId)).toMatchObject({ state: 'running', cancelRequested: true });
    expect(await store.renewCalls({ lane: session.lane, calls: [ownedBy(delivery)] })).toEqual(['cancel']);
    expect(await drainReplies(store, session.lane, waiter.callerId)).toEqual([]);

    const outcome = encodedOutcome('cancelled', 'stopped half way');
    expect(await store.settleCall(settleRequest(delivery, outcome))).toBe('settled');
    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(outcome));
    expect(await drainReplies(store, session.lane, waiter.callerId)).toHaveLength(1);
    expect(await terminalEvents(store, delivery.callId)).toHaveLength(1);
  });

  it('cancel repeated after a lost answer changes nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const queued = await acceptOne(store, session);
    await store.cancelCall(cancelRequest(queued));
    expect(['cancelled', 'settled']).toContain(await store.cancelCall(cancelRequest(queued)));
    expect(await auditEvents(store, queued)).toEqual(['call.cancelled']);

    const running = await holdOne(store, session);
    await store.startCall(startRequest(running));
    await store.cancelCall(cancelRequest(running.callId));
    expect(await store.cancelCall(cancelRequest(running.callId))).toBe('cancelling');
  });

  it('cancel of a settled call changes nothing', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    const outcome = encodedOutcome('ok');
    await store.settleCall(settleRequest(delivery, outcome));
    expect(await store.cancelCall(cancelRequest(delivery.callId))).toBe('settled');
    expect(await recordOf(store, delivery.callId)).toMatchObject({
      outcome: sameBytes(outcome),
      cancelRequested: false,
    });
    expect(await terminalEvents(store, delivery.callId)).toEqual(['call.settled']);
  });

  it('cancel obeys any live session of the same subject and its token', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const sibling = await openSession(store, session.identity);
    for (const { id, tokenDigest } of [session, sibling]) {
      const callId = await acceptOne(store, session);
      expect(await store.cancelCall(cancelRequest(callId, { session: { id, tokenDigest } }))).toBe('cancelled');
    }
  });

  it('cancel gives strangers, wrong tokens and unknown ids the same answer', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const stranger = await openSession(store, { lane: session.lane });
    const callId = await acceptOne(store, session);
    const cancelAs = (id: typeof session.id, tokenDigest: string) =>
      store.cancelCall(cancelRequest(callId, { session: { id, tokenDigest } }));

    expect(await cancelAs(stranger.id, stranger.tokenDigest)).toBe('unknown');
    expect(await cancelAs(session.id, stranger.tokenDigest)).toBe('unknown');
    expect(await store.cancelCall(cancelRequest(callIdFor(session.id, 'absent')!))).toBe('unknown');
    expect(await recordOf(store, callId)).toMatchObject({ state: 'queued', cancelRequested: false });
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([callId]);
  });
}
