import { expect, it } from 'vitest';
import type { Delivery } from '../../../src/domain/ports/call-requests.ts';
import { newWorkerId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptMany,
  acceptOne,
  allow,
  askAbout,
  askRequest,
  callIds,
  cancelRequest,
  claimMany,
  claimOne,
  detail,
  encodedOutcome,
  holdOne,
  newWaiter,
  openSession,
  ownedBy,
  POOL,
  reapRequest,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import { auditEvents, drainReplies, reclaimAll, reclaimOne, recordOf, sameBytes, storeTimePasses } from '../observe.ts';
import { eventually } from '../../support/process.ts';
import type { Scene } from '../scene.ts';

const LONG_LEASE_MS = 600_000;

export function describeRecover(scene: Scene): void {
  it('reclaim takes over a lost call with a higher fence and the same bytes', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    const taken = await reclaimOne(store, lost);

    expect(taken.fence).toBeGreaterThan(lost.fence);
    expect(taken.workerId).not.toBe(lost.workerId);
    expect(taken.recovered).toEqual({ starts: 0, wasRunning: false, cancelRequested: false });
    const { fence: _fence, workerId: _worker, recovered: _recovered, envelope, entryId: _entry, ...rest } = taken;
    const { lostDeliveries: _lost, ...same } = rest;
    expect(lost).toMatchObject(same);
    expect(envelope).toEqual(sameBytes(lost.envelope));
    expect((await reclaimOne(store, taken)).fence).toBeGreaterThan(taken.fence);
  });

  it('reclaim counts each lost worker once, and no worker that gave the call back, handed it on or parked it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lane = { lane: session.lane };
    const giveBack = async (delivery: Delivery, handedBack: boolean) => {
      expect(await store.abandonCall({ ...ownedBy(delivery), handedBack })).toBe('abandoned');
      return claimOne(store, lane);
    };
    const parkAndAllow = async (delivery: Delivery) => {
      await allow(store, await askAbout(store, delivery));
      return claimOne(store, lane);
    };
    let delivery = await holdOne(store, session);
    const counts = [delivery.lostDeliveries];
    for (const step of [
      giveBack,
      parkAndAllow,
      reclaimOne.bind(undefined, store),
      giveBack,
      parkAndAllow,
      parkAndAllow,
    ]) {
      delivery = await step(delivery, false);
      counts.push(delivery.lostDeliveries);
    }
    delivery = await giveBack(await reclaimOne(store, await reclaimOne(store, delivery)), true);
    expect([...counts, delivery.lostDeliveries]).toEqual([0, 0, 0, 1, 1, 1, 1, 3]);
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
  });

  it('reap clears no silent worker away while it holds a call, which is taken over as any other', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    await storeTimePasses(store, 2);
    await store.reapCalls(reapRequest(session.lane, { consumerIdleMs: 0 }));
    expect((await reclaimOne(store, lost)).fence).toBeGreaterThan(lost.fence);
  });

  it('reclaim leaves leases alone that are not old enough', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const request = { lane: session.lane, pool: POOL, workerId: newWorkerId(), limit: 10, leaseMs: LONG_LEASE_MS };
    expect((await store.reclaimCalls(request)).deliveries).toEqual([]);
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
  });

  it('reclaim takes no more than asked for, and only from its pool', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptMany(store, session, 3);
    await acceptOne(store, session, { pool: 'other' });
    await claimMany(store, { lane: session.lane });
    await claimMany(store, { lane: session.lane, pool: 'other' });
    await storeTimePasses(store, 2);
    const request = { lane: session.lane, pool: POOL, workerId: newWorkerId(), limit: 2, leaseMs: 1 };
    expect((await store.reclaimCalls(request)).deliveries).toHaveLength(2);
    expect(await reclaimAll(store, session.lane)).toHaveLength(3);
  });

  it('reclaim brings what is known of the last start: count, effect, and that it never settled', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    await store.startCall(startRequest(lost, { effect: 'idempotent' }));
    const taken = await reclaimOne(store, lost);
    expect(taken.recovered).toEqual({ starts: 1, wasRunning: true, effect: 'idempotent', cancelRequested: false });
  });

  it('reclaim returns that the call is to be cancelled', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    await store.startCall(startRequest(lost, { effect: 'read' }));
    expect(await store.cancelCall(cancelRequest(lost.callId))).toBe('cancelling');
    expect((await reclaimOne(store, lost)).recovered).toMatchObject({ wasRunning: true, cancelRequested: true });
  });

  it('renew keeps a lease while its neighbour is taken over', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const leaseMs = 400;
    // Repeated in case the machine itself pauses for a whole lease between renewal and reclaim.
    await eventually(
      async () => {
        const [kept, lost] = await acceptAndClaimTwo();
        await storeTimePasses(store, leaseMs);
        const renewedAt = await store.now();
        expect(await store.renewCalls({ lane: session.lane, calls: [ownedBy(kept)] })).toEqual(['renewed']);
        const request = { lane: session.lane, pool: POOL, workerId: newWorkerId(), limit: 10, leaseMs };
        const taken = callIds((await store.reclaimCalls(request)).deliveries);
        if ((await store.now()) - renewedAt >= leaseMs) return false;
        expect(taken).toContain(lost.callId);
        expect(taken).not.toContain(kept.callId);
        return true;
      },
      { what: 'a renewal within its lease' },
    );

    async function acceptAndClaimTwo() {
      return [await holdOne(store, session), await holdOne(store, session)] as const;
    }
  });

  it('a worker that lost its call can do nothing with it any more', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter({ events: true });
    const lost = await holdOne(store, session, { waiter });
    const current = await reclaimOne(store, lost);

    expect(await store.settleCall(settleRequest(lost))).toBe('fenced');
    expect(await store.renewCalls({ lane: session.lane, calls: [ownedBy(lost)] })).toEqual(['fenced']);
    expect(await store.startCall(startRequest(lost))).toEqual({ kind: 'fenced' });
    expect(await store.askApproval(askRequest(lost))).toEqual({ kind: 'fenced' });
    expect(await store.abandonCall({ ...ownedBy(lost), handedBack: true })).toBe('fenced');
    await store.notifyWaiters({ ...ownedBy(lost), event: detail('progress') });

    expect(await recordOf(store, lost.callId)).toMatchObject({ state: 'queued', starts: 0 });
    expect(await drainReplies(store, session.lane, waiter.callerId)).toEqual([]);
    expect(await auditEvents(store, lost.callId)).toEqual([]);
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await store.renewCalls({ lane: session.lane, calls: [ownedBy(current)] })).toEqual(['renewed']);
    expect(await store.settleCall(settleRequest(current))).toBe('settled');
  });

  it('a worker that takes over its own call loses the old lease of it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const workerId = newWorkerId();
    await acceptOne(store, session);
    const stalled = await claimOne(store, { lane: session.lane, workerId });
    const [current] = await reclaimAll(store, session.lane, { workerId });
    expect(current).toMatchObject({ callId: stalled.callId, workerId });
    expect(await store.startCall(startRequest(stalled))).toEqual({ kind: 'fenced' });
    expect(await store.renewCalls({ lane: session.lane, calls: [stalled, current!] })).toEqual(['fenced', 'renewed']);
    expect(await store.settleCall(settleRequest(stalled))).toBe('fenced');
    expect(await store.settleCall(settleRequest(current!))).toBe('settled');
  });

  it('renew answers each call in the order asked', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const workerId = newWorkerId();
    await acceptMany(store, session, 4);
    const [kept, settled, cancelled, given] = await claimMany(store, { lane: session.lane, workerId });
    await store.settleCall(settleRequest(settled!));
    await store.startCall(startRequest(cancelled!));
    await store.cancelCall(cancelRequest(cancelled!.callId));
    await store.abandonCall({ ...ownedBy(given!), handedBack: false });

    const calls = [kept!, settled!, cancelled!, given!].map(ownedBy);
    expect(await store.renewCalls({ lane: session.lane, calls })).toEqual(['renewed', 'fenced', 'cancel', 'fenced']);
    expect(await store.renewCalls({ lane: session.lane, calls: [] })).toEqual([]);
  });

  it('renew takes calls of several workers in one request', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const calls = [await holdOne(store, session), await holdOne(store, session)].map(ownedBy);
    expect(calls[0]!.workerId).not.toBe(calls[1]!.workerId);
    expect(await store.renewCalls({ lane: session.lane, calls })).toEqual(['renewed', 'renewed']);
  });

  it('abandon makes the call claimable at once, under a higher fence', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session);
    expect(await store.abandonCall({ ...ownedBy(first), handedBack: false })).toBe('abandoned');
    const second = await claimOne(store, { lane: session.lane });

    expect(second).toMatchObject({ callId: first.callId, handedBack: 0 });
    expect(second.envelope).toEqual(sameBytes(first.envelope));
    expect(second.fence).toBeGreaterThan(first.fence);
    expect(second.recovered).toMatchObject({ starts: 0, wasRunning: false, cancelRequested: false });
    expect(await store.settleCall(settleRequest(first))).toBe('fenced');
    expect(await store.settleCall(settleRequest(second))).toBe('settled');
  });

  it('abandon counts how often a call was handed back, and other endings of a lease do not change that', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    let held = await holdOne(store, session);
    for (let count = 1; count <= 12; count += 1) {
      await store.abandonCall({ ...ownedBy(held), handedBack: true });
      // A repeat after a lost answer counts as the same one.
      await store.abandonCall({ ...ownedBy(held), handedBack: true });
      held = await claimOne(store, { lane: session.lane });
      expect(held).toMatchObject({ handedBack: count, fence: count + 1 });
    }
    held = await reclaimOne(store, held);
    expect(held).toMatchObject({ handedBack: 12, fence: 14 });
    await store.abandonCall({ ...ownedBy(held), handedBack: false });
    expect(await claimOne(store, { lane: session.lane })).toMatchObject({ handedBack: 12, fence: 15 });
  });

  it('abandon repeated after a lost answer queues the call once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session);
    const request = { ...ownedBy(first), handedBack: false };
    await store.abandonCall(request);
    await store.abandonCall(request);
    expect(await claimMany(store, { lane: session.lane })).toHaveLength(1);
    expect(await store.abandonCall(request)).toBe('abandoned');
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
  });

  it('abandon of a call that was never delivered is fenced, with any fence', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    const callId = await acceptOne(store, session);
    for (const fence of [0, 1]) {
      expect(await store.abandonCall({ ...ownedBy(held), callId, fence, handedBack: true })).toBe('fenced');
    }
    expect(await claimOne(store, { lane: session.lane })).toMatchObject({ callId, fence: 1, handedBack: 0 });
  });

  it('abandon of a resumed call is fenced until a worker holds it again', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const held = await holdOne(store, session);
    await allow(store, await askAbout(store, held));
    for (const fence of [held.fence, held.fence + 1]) {
      expect(await store.abandonCall({ ...ownedBy(held), fence, handedBack: true })).toBe('fenced');
    }
    const resumed = await claimOne(store, { lane: session.lane });
    expect(resumed.handedBack).toBe(0);
    expect(await store.abandonCall({ ...ownedBy(resumed), handedBack: false })).toBe('abandoned');
  });

  it('an unsafe call abandoned after its start mark does not start again', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session);
    await store.startCall(startRequest(first));
    expect(await store.abandonCall({ ...ownedBy(first), handedBack: false })).toBe('abandoned');
    const second = await claimOne(store, { lane: session.lane });
    expect(await store.startCall(startRequest(second))).toEqual({ kind: 'may-have-run' });
    expect(second.recovered?.starts).toBe(1);
    expect(await store.settleCall(settleRequest(second, encodedOutcome('indeterminate')))).toBe('settled');
  });
}
