import { expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/call/call.ts';
import { newCallerId, randomId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptOne,
  acceptRequest,
  claimOne,
  detail,
  encodedOutcome,
  holdOne,
  newWaiter,
  openSession,
  ownedBy,
  reapRequest,
  settleRequest,
} from '../fixtures.ts';
import { eventually } from '../../support/process.ts';
import { drainReplies, recordOf, sameBytes } from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeReplies(scene: Scene): void {
  it('a reply comes again until it is acknowledged, under the same reply id', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    const waiter = newWaiter();
    await store.settleCall(settleRequest(await holdOne(store, session, { waiter })));
    const take = (from: typeof store, acknowledged: string[]) =>
      from.takeReplies({ lane: session.lane, callerId: waiter.callerId, acknowledged, waitMs: 0 });

    const first = await take(store, []);
    expect(first.flatMap((reply) => reply.items)).toHaveLength(1);
    const second = await take(other, []);
    expect(second.map((reply) => reply.replyId)).toEqual(first.map((reply) => reply.replyId));
    const acknowledged = first.map((reply) => reply.replyId);
    expect(await take(store, acknowledged)).toEqual([]);
    expect(await take(other, [])).toEqual([]);
    expect(await take(store, acknowledged)).toEqual([]);
  });

  it('acknowledging one reply does not lose the next', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { callerId } = newWaiter();
    const settleFor = async (correlationId: string) =>
      store.settleCall(
        settleRequest(await holdOne(store, session, { waiter: { callerId, correlationId, events: false } })),
      );
    await settleFor('one');
    const first = await store.takeReplies({ lane: session.lane, callerId, acknowledged: [], waitMs: 0 });
    await settleFor('two');
    const acknowledged = first.map((reply) => reply.replyId);
    const second = await store.takeReplies({ lane: session.lane, callerId, acknowledged, waitMs: 0 });
    const correlationIds = second.flatMap((reply) => reply.items).map((item) => item.correlationId);
    expect(correlationIds).toEqual(['two']);
  });

  it('takeReplies that waits is woken by a settle on another connection', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    const waiter = newWaiter();
    const delivery = await holdOne(other, session, { waiter });
    // The wait is longer than a test may take, so only the wake-up can answer the request.
    const waiting = store.takeReplies({
      lane: session.lane,
      callerId: waiter.callerId,
      acknowledged: [],
      waitMs: 600_000,
    });
    await other.settleCall(settleRequest(delivery));
    expect((await waiting).flatMap((reply) => reply.items)).toHaveLength(1);
  });

  it('takeReplies that waits in vain answers with nothing', async () => {
    const store = await scene.open();
    const nothing = await store.takeReplies({ lane: 0, callerId: newCallerId(), acknowledged: [], waitMs: 10 });
    expect(nothing).toEqual([]);
  });

  it('callers never see each other’s replies', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiters = [newWaiter(), newWaiter(), newWaiter()];
    for (const waiter of waiters) {
      const outcome = encodedOutcome('ok', waiter.correlationId);
      await store.settleCall(settleRequest(await holdOne(store, session, { waiter }), outcome));
    }
    expect(await drainReplies(store, session.lane, newCallerId())).toEqual([]);
    for (const { callerId, correlationId } of waiters) {
      expect(await drainReplies(store, session.lane, callerId)).toEqual([
        { kind: 'settled', correlationId, outcome: sameBytes(encodedOutcome('ok', correlationId)) },
      ]);
    }
  });

  it('one caller with two correlation ids on one call gets two items', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { callerId } = newWaiter();
    const correlationIds = [randomId(), randomId()];
    for (const correlationId of correlationIds) {
      const waiter = { callerId, correlationId, events: false };
      await store.acceptCall(acceptRequest(session, { key: 'k', waiter }));
    }
    await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    const items = await drainReplies(store, session.lane, callerId);
    expect(items.map((item) => item.correlationId).sort()).toEqual(correlationIds.sort());
  });

  it('many replies to one caller arrive complete and in the order of their settles', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const callerId = newCallerId();
    const expected: string[] = [];
    for (let index = 0; index < 150; index += 1) {
      const correlationId = `c-${index}`;
      expected.push(correlationId);
      await acceptOne(store, session, {
        waiter: { callerId, correlationId, events: false },
        admission: { ...acceptRequest(session).admission, subjectWindow: 1_000 },
      });
    }
    for (let index = 0; index < 150; index += 1) {
      await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    }
    const items = await drainReplies(store, session.lane, callerId);
    expect(items.map((item) => item.correlationId)).toEqual(expected);
  });

  it('an outcome up to the limit rides inline, a larger one comes by reference', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    for (const [bytes, kind] of [
      [LIMITS.inlineOutcomeBytes, 'settled'],
      [LIMITS.inlineOutcomeBytes + 1, 'settled-by-reference'],
    ] as const) {
      const waiter = newWaiter();
      const delivery = await holdOne(store, session, { waiter });
      const outcome = new Uint8Array(bytes).fill(7);
      await store.settleCall(settleRequest(delivery, outcome));
      const { correlationId } = waiter;
      const items = await drainReplies(store, session.lane, waiter.callerId);
      expect(items).toEqual([
        kind === 'settled' ? { kind, correlationId, outcome: sameBytes(outcome) } : { kind, correlationId },
      ]);
      expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(outcome));
    }
  });

  it('events reach only the waiters who asked, before the outcome', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [eager, patient] = [newWaiter({ events: true }), newWaiter()];
    await store.acceptCall(acceptRequest(session, { key: 'k', waiter: eager }));
    await store.acceptCall(acceptRequest(session, { key: 'k', waiter: patient }));
    const delivery = await claimOne(store, { lane: session.lane });
    await store.notifyWaiters({ ...ownedBy(delivery), event: detail('50 %') });
    const outcome = encodedOutcome('ok');
    await store.settleCall(settleRequest(delivery, outcome));
    await store.notifyWaiters({ ...ownedBy(delivery), event: detail('too late') });

    expect(await drainReplies(store, session.lane, eager.callerId)).toEqual([
      { kind: 'event', correlationId: eager.correlationId, event: sameBytes(detail('50 %')) },
      { kind: 'settled', correlationId: eager.correlationId, outcome: sameBytes(outcome) },
    ]);
    expect(await drainReplies(store, session.lane, patient.callerId)).toEqual([
      { kind: 'settled', correlationId: patient.correlationId, outcome: sameBytes(outcome) },
    ]);
  });

  it('the outcome outlives its reader', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const delivery = await holdOne(store, session, { waiter });
    const outcome = encodedOutcome('ok', 'kept');
    await store.settleCall(settleRequest(delivery, outcome));
    await drainReplies(store, session.lane, waiter.callerId);
    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(outcome));
  });

  it('an outcome is kept for the whole of its retention, however often the store is reaped', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const retentionMs = 500;
    await store.settleCall(settleRequest(delivery, undefined, { retentionMs }));
    const { settledAt } = await recordOf(store, delivery.callId);
    const goneAt = await eventually(
      async () => {
        await store.reapCalls(reapRequest(session.lane));
        // Store time is read after the check: on a slow machine it is later, never too early.
        return (await store.readCall(delivery.callId)) === undefined && (await store.now());
      },
      { everyMs: 5, what: 'the end of the retention' },
    );
    expect(goneAt).toBeGreaterThanOrEqual(settledAt! + retentionMs);
  });
}
