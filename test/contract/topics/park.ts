import { expect, it } from 'vitest';
import {
  acceptRequest,
  callIds,
  claimMany,
  claimOne,
  detail,
  encodedOutcome,
  EXPIRED,
  holdOne,
  HOUR_MS,
  newWaiter,
  openSession,
  ownedBy,
  parkRequest,
  reapRequest,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import {
  auditEvents,
  auditOf,
  drainReplies,
  reclaimAll,
  reclaimOne,
  recordOf,
  sameBytes,
  storeTimeAfter,
} from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describePark(scene: Scene): void {
  it('park puts a call aside: no worker holds it, nobody can claim it, its audit says so', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    expect(await store.parkCall(parkRequest(delivery, { audit: detail('question') }))).toBe('parked');

    expect((await recordOf(store, delivery.callId)).state).toBe('parked');
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await reclaimAll(store, session.lane)).toEqual([]);
    expect(await store.renewCalls({ lane: session.lane, calls: [ownedBy(delivery)] })).toEqual(['fenced']);
    expect(await auditOf(store, delivery.callId)).toEqual([
      expect.objectContaining({ event: 'call.parked', detail: sameBytes(detail('question')) }),
    ]);
  });

  it('resume queues the exact bytes again under a higher fence, with the decision and a new deadline', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parked = await holdOne(store, session);
    await store.parkCall(parkRequest(parked));
    const before = await store.now();
    const decision = detail('allow-once');
    expect(await store.resumeCall({ callId: parked.callId, with: decision, deadlineMs: 7_000 })).toBe('resumed');
    const after = await store.now();

    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(parked.callId);
    expect(delivery.fence).toBeGreaterThan(parked.fence);
    expect(delivery.envelope).toEqual(sameBytes(parked.envelope));
    expect(delivery.resumedWith).toEqual(sameBytes(decision));
    expect(delivery.recovered).toMatchObject({ starts: 0, wasRunning: false });
    expect(delivery.deadline).toBeGreaterThanOrEqual(before + 7_000);
    expect(delivery.deadline).toBeLessThanOrEqual(after + 7_000);
    expect((await recordOf(store, parked.callId)).deadline).toBe(delivery.deadline);
    expect(await store.settleCall(settleRequest(parked))).toBe('fenced');
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'started', starts: 1 });
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
  });

  it('the decision comes again when the resumed call is lost', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parked = await holdOne(store, session);
    await store.parkCall(parkRequest(parked));
    await store.resumeCall({ callId: parked.callId, with: detail('yes'), deadlineMs: HOUR_MS });
    const taken = await reclaimOne(store, await claimOne(store, { lane: session.lane }));
    expect(taken.resumedWith).toEqual(sameBytes(detail('yes')));
  });

  it('resume without a decision brings none', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parked = await holdOne(store, session);
    await store.parkCall(parkRequest(parked));
    await store.resumeCall({ callId: parked.callId, deadlineMs: HOUR_MS });
    expect((await claimOne(store, { lane: session.lane })).resumedWith).toBeUndefined();
  });

  it('resume works once, and only on a parked call', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const resume = () => store.resumeCall({ callId: delivery.callId, deadlineMs: HOUR_MS });
    expect(await resume()).toBe('not-parked');
    await store.parkCall(parkRequest(delivery));
    expect(await resume()).toBe('resumed');
    expect(await resume()).toBe('not-parked');
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([delivery.callId]);
    expect(await store.resumeCall({ callId: acceptRequest(session).callId, deadlineMs: HOUR_MS })).toBe('not-parked');
  });

  it('a call can be parked again after it was resumed', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session);
    await store.parkCall(parkRequest(first));
    await store.resumeCall({ callId: first.callId, with: detail('one'), deadlineMs: HOUR_MS });
    const second = await claimOne(store, { lane: session.lane });
    expect(await store.parkCall(parkRequest(second))).toBe('parked');
    expect(await store.parkCall(parkRequest(first))).toBe('fenced');
    await store.resumeCall({ callId: first.callId, with: detail('two'), deadlineMs: HOUR_MS });
    const third = await claimOne(store, { lane: session.lane });
    expect(third.fence).toBeGreaterThan(second.fence);
    expect(third.resumedWith).toEqual(sameBytes(detail('two')));
  });

  it('park repeated after a lost answer parks and audits once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    await store.parkCall(parkRequest(delivery));
    await store.parkCall(parkRequest(delivery));
    expect((await recordOf(store, delivery.callId)).state).toBe('parked');
    expect(await auditEvents(store, delivery.callId)).toEqual(['call.parked']);
  });

  it('a parked call outlives its deadline and is reaped when its own time is up', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const patient = await holdOne(store, session, { deadlineMs: 200 });
    const brief = await holdOne(store, session, { waiter });
    const until = (await store.now()) + 200;
    await store.parkCall(parkRequest(patient));
    await store.parkCall(parkRequest(brief, { until }));
    await storeTimeAfter(store, Math.max(until, patient.deadline));

    expect((await store.reapCalls(reapRequest(session.lane))).expired).toEqual([brief.callId]);
    expect(await recordOf(store, brief.callId)).toMatchObject({ state: 'settled', outcome: sameBytes(EXPIRED) });
    expect((await recordOf(store, patient.callId)).state).toBe('parked');
    expect(await drainReplies(store, session.lane, waiter.callerId)).toHaveLength(1);
    expect(await store.resumeCall({ callId: brief.callId, deadlineMs: HOUR_MS })).toBe('not-parked');
    expect(await store.resumeCall({ callId: patient.callId, deadlineMs: HOUR_MS })).toBe('resumed');
    const resumed = await claimOne(store, { lane: session.lane });
    expect(await store.settleCall(settleRequest(resumed, encodedOutcome('ok')))).toBe('settled');
  });
}
