import { expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/call/call.ts';
import { newCallerId } from '../../../src/domain/identity/new-id.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import {
  acceptOne,
  acceptRequest,
  claimMany,
  claimOne,
  newWaiter,
  openSession,
  settleRequest,
  type TestSession,
} from '../fixtures.ts';
import { drainReplies, recordOf, terminalEvents } from '../observe.ts';
import type { Scene } from '../scene.ts';

const FULL = { kind: 'overloaded', what: 'waiters of this call', retryAfterMs: 1000 };

/** Adds as many waiters to the call under the key `k` as it may have, all of one caller. */
async function fillWaiters(store: Store, session: TestSession): Promise<{ callerId: ReturnType<typeof newCallerId> }> {
  const callerId = newCallerId();
  const accept = (index: number) =>
    store.acceptCall(acceptRequest(session, { key: 'k', waiter: waiterOf(callerId, index) }));
  await accept(0);
  for (let from = 1; from < LIMITS.waitersPerCall; from += 100) {
    const some = Array.from({ length: Math.min(100, LIMITS.waitersPerCall - from) }, (_, index) =>
      accept(from + index),
    );
    const kinds = new Set((await Promise.all(some)).map(({ kind }) => kind));
    expect([...kinds]).toEqual(['attached']);
  }
  return { callerId };
}

const waiterOf = (callerId: ReturnType<typeof newCallerId>, index: number) => ({
  callerId,
  correlationId: `c-${index}`,
  events: false,
});

export function describeWaiters(scene: Scene): void {
  it('a call has no more waiters than the limit; one more is refused and changes nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { callerId } = await fillWaiters(store, session);
    const { callId } = acceptRequest(session, { key: 'k' });
    expect(await store.acceptCall(acceptRequest(session, { key: 'k', waiter: newWaiter() }))).toEqual(FULL);
    expect(await store.acceptCall(acceptRequest(session, { key: 'k', waiter: newWaiter() }))).toEqual(FULL);
    expect((await recordOf(store, callId)).waiters).toBe(LIMITS.waitersPerCall);
    // A repeat by an existing waiter and a request without a waiter add no waiter.
    const again = acceptRequest(session, { key: 'k', waiter: waiterOf(callerId, 7) });
    expect(await store.acceptCall(again)).toMatchObject({ kind: 'attached', callId });
    expect(await store.acceptCall(acceptRequest(session, { key: 'k' }))).toMatchObject({ kind: 'attached', callId });
    expect((await recordOf(store, callId)).waiters).toBe(LIMITS.waitersPerCall);
  });

  it('settle answers every waiter of one caller at the limit, once, and the call replays', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { callerId } = await fillWaiters(store, session);
    const delivery = await claimOne(store, { lane: session.lane });
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');

    const items = await drainReplies(store, session.lane, callerId);
    const expected = Array.from({ length: LIMITS.waitersPerCall }, (_, index) => `c-${index}`);
    expect(items.map((item) => item.correlationId).sort()).toEqual(expected.sort());
    expect(await terminalEvents(store, delivery.callId)).toEqual(['call.settled']);
    const late = await store.acceptCall(acceptRequest(session, { key: 'k', waiter: newWaiter() }));
    expect(late).toMatchObject({ kind: 'replayed', callId: delivery.callId });
  });

  it('settle of a call with many waiters does not hold up the calls settled with it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await fillWaiters(store, session);
    const neighbour = await openSession(store, { lane: session.lane });
    const waiter = newWaiter();
    await acceptOne(store, neighbour, { serial: true, waiter });
    await acceptOne(store, neighbour, { serial: true });
    const deliveries = await claimMany(store, { lane: session.lane });
    const settled = await Promise.all(deliveries.map((delivery) => store.settleCall(settleRequest(delivery))));
    expect(settled).toEqual(['settled', 'settled']);
    expect(await drainReplies(store, session.lane, waiter.callerId)).toHaveLength(1);
    // The settle of the neighbour's first serial call has queued its next one.
    expect((await claimOne(store, { lane: session.lane })).session).toBe(neighbour.id);
  });
}
