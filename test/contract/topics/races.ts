import { expect, it } from 'vitest';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import type { AcceptAnswer, Delivery } from '../../../src/domain/ports/call-requests.ts';
import { newWorkerId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  askAbout,
  BOB,
  callIds,
  CANCELLED_IF_HELD,
  cancelRequest,
  claimMany,
  claimOne,
  decideRequest,
  encodedOutcome,
  holdOne,
  newWaiter,
  openSession,
  POOL,
  reapRequest,
  ROOMY,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import { drainReplies, readCallAudit, recordOf, sameBytes, storeTimePasses, terminalEvents } from '../observe.ts';
import type { Scene } from '../scene.ts';

const wide = { admission: { ...ROOMY, subjectWindow: 1_000 } };

function countOf<T>(values: readonly T[], value: T): number {
  return values.filter((each) => each === value).length;
}

/** Runs `act` `count` times at once, on the handles in turn. */
function spread<H, T>(
  handles: readonly H[],
  count: number,
  act: (handle: H, index: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(handles[index % handles.length]!, index)));
}

export function describeRaces(scene: Scene): void {
  it('two hundred accepts of one key from four connections make one call, and every waiter is answered once', async () => {
    const handles = await scene.openMany(4);
    const [store] = handles as [(typeof handles)[0]];
    const session = await openSession(store);
    const waiters = Array.from({ length: 200 }, () => newWaiter());
    const answers = await spread(handles, 200, (handle, index) =>
      handle.acceptCall(acceptRequest(session, { key: 'k', waiter: waiters[index]! })),
    );
    const kinds = answers.map((answer) => answer.kind);
    expect([countOf(kinds, 'accepted'), countOf(kinds, 'attached')]).toEqual([1, 199]);

    const deliveries = await claimMany(store, { lane: session.lane });
    expect(deliveries).toHaveLength(1);
    await store.settleCall(settleRequest(deliveries[0]!));
    for (const { callerId, correlationId } of waiters) {
      const items = await drainReplies(store, session.lane, callerId);
      expect(items.map((item) => [item.kind, item.correlationId])).toEqual([['settled', correlationId]]);
    }
  });

  it('a waiter who comes while the call is being settled gets a reply or a replay, never neither', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    const seen: AcceptAnswer['kind'][] = [];
    for (let round = 0; round < 50; round += 1) {
      const key = `k-${round}`;
      const delivery = await holdOne(store, session, { key });
      const waiters = Array.from({ length: 6 }, () => newWaiter());
      const attach = (waiter: (typeof waiters)[0]) => other.acceptCall(acceptRequest(session, { key, waiter }));
      const early = waiters.slice(0, 3).map(attach);
      const settling = store.settleCall(settleRequest(delivery));
      const late = waiters.slice(3).map(attach);
      expect(await settling).toBe('settled');
      const answers = await Promise.all([...early, ...late]);
      for (const [index, answer] of answers.entries()) {
        const items = await drainReplies(store, session.lane, waiters[index]!.callerId);
        expect(items).toHaveLength(answer.kind === 'attached' ? 1 : 0);
        expect(['attached', 'replayed']).toContain(answer.kind);
        seen.push(answer.kind);
      }
    }
    expect(seen).toHaveLength(300);
  });

  it('settle against cancel of a held call has one winner, one ending and one reply', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    const outcome = encodedOutcome('ok');
    for (let round = 0; round < 100; round += 1) {
      const waiter = newWaiter();
      const delivery = await holdOne(store, session, { waiter });
      const settle = () => store.settleCall(settleRequest(delivery, outcome));
      const cancel = () => other.cancelCall(cancelRequest(delivery.callId));
      const [settled, cancelled] =
        round % 2 === 0
          ? await Promise.all([settle(), cancel()])
          : await Promise.all([cancel(), settle()]).then(([first, second]) => [second, first] as const);

      const won = settled === 'settled';
      expect([settled, cancelled]).toEqual(won ? ['settled', 'settled'] : ['fenced', 'cancelled']);
      const expected = sameBytes(won ? outcome : CANCELLED_IF_HELD);
      expect((await recordOf(store, delivery.callId)).outcome).toEqual(expected);
      expect(await drainReplies(store, session.lane, waiter.callerId)).toEqual([
        { kind: 'settled', correlationId: waiter.correlationId, outcome: expected },
      ]);
    }
    const entries = await readCallAudit(store, session.lane);
    expect(entries).toHaveLength(100);
    expect(new Set(entries.map((entry) => entry.callId)).size).toBe(100);
  });

  it('start against cancel: either nothing starts, or the cancel knows that something has', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    for (let round = 0; round < 60; round += 1) {
      const delivery = await holdOne(store, session);
      const starting = store.startCall(startRequest(delivery));
      const [started, cancelled] = await Promise.all([starting, other.cancelCall(cancelRequest(delivery.callId))]);
      const record = await recordOf(store, delivery.callId);
      const begun = started.kind === 'started';
      expect(cancelled).toBe(begun ? 'cancelling' : 'cancelled');
      expect(record).toMatchObject(
        begun ? { state: 'running', starts: 1, cancelRequested: true } : { state: 'settled', starts: 0 },
      );
      const late = await store.settleCall(settleRequest(delivery, encodedOutcome('cancelled', 'stopped')));
      expect(late).toBe(begun ? 'settled' : 'fenced');
      expect(await terminalEvents(store, delivery.callId)).toHaveLength(1);
    }
  });

  it('two reclaimers never own the same call', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    const accepted = await acceptMany(store, session, 30);
    await claimMany(store, { lane: session.lane });
    const leaseMs = 1_500;
    await storeTimePasses(store, leaseMs);
    const reclaim = async (handle: typeof store) => {
      const request = { lane: session.lane, pool: POOL, workerId: newWorkerId(), limit: 7, leaseMs };
      return (await handle.reclaimCalls(request)).deliveries;
    };
    const taken = (await spread([store, other], 12, reclaim)).flat();
    expect(callIds(taken).sort()).toEqual([...accepted].sort());
    for (const delivery of taken) expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
  });

  it('reclaim against a late settle of the old owner: never both', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    await acceptMany(store, session, 60);
    const held = await claimMany(store, { lane: session.lane });
    const leaseMs = 1_500;
    await storeTimePasses(store, leaseMs);
    const request = { lane: session.lane, pool: POOL, workerId: newWorkerId(), limit: 4, leaseMs };
    const [settled, reclaimed] = await Promise.all([
      Promise.all(held.map((delivery) => store.settleCall(settleRequest(delivery)))),
      spread([other], 20, async (handle) => (await handle.reclaimCalls(request)).deliveries),
    ]);
    const taken = new Map<CallId, Delivery>(reclaimed.flat().map((delivery) => [delivery.callId, delivery]));
    for (const [index, delivery] of held.entries()) {
      expect(settled[index]).toBe(taken.has(delivery.callId) ? 'fenced' : 'settled');
    }
    for (const delivery of taken.values()) expect(await other.settleCall(settleRequest(delivery))).toBe('settled');
    const entries = await readCallAudit(store, session.lane);
    expect(entries.map((entry) => entry.callId).sort()).toEqual(callIds(held).sort());
  });

  it('five hundred calls and three claimers: each call is delivered once and settled once', async () => {
    const handles = await scene.openMany(3);
    const [store] = handles as [(typeof handles)[0]];
    const sessions = [await openSession(store)];
    const { lane } = sessions[0]!;
    while (sessions.length < 5) sessions.push(await openSession(store, { lane }));
    const delivered: CallId[] = [];
    let open = 500;
    const work = async (handle: (typeof handles)[0]) => {
      const workerId = newWorkerId();
      while (open > 0) {
        const deliveries = await claimMany(handle, { lane, workerId, limit: 8, waitMs: 50 });
        delivered.push(...callIds(deliveries));
        const answers = await Promise.all(deliveries.map((delivery) => handle.settleCall(settleRequest(delivery))));
        expect(answers.every((answer) => answer === 'settled')).toBe(true);
        open -= deliveries.length;
      }
    };
    const working = Promise.all(handles.map(work));
    const accepted = await spread(handles, 500, (handle, index) => acceptOne(handle, sessions[index % 5]!));
    await working;

    expect(delivered.sort()).toEqual(accepted.sort());
    const entries = await readCallAudit(store, lane);
    expect(entries.map((entry) => entry.callId).sort()).toEqual(accepted);
    expect((await store.queueState()).every((state) => state.queued + state.leased === 0)).toBe(true);
  });

  it('serial calls stay in order with three claimers and lost workers', async () => {
    const handles = await scene.openMany(3);
    const [store] = handles as [(typeof handles)[0]];
    const session = await openSession(store);
    const accepted = await acceptMany(store, session, 24, { serial: true });
    const settled: CallId[] = [];
    let running = 0;
    const work = async (handle: (typeof handles)[0], worker: number) => {
      while (settled.length < accepted.length) {
        const deliveries = await claimMany(handle, { lane: session.lane, waitMs: 20 });
        running += deliveries.length;
        expect(running, 'serial calls held at once').toBeLessThanOrEqual(1);
        for (const delivery of deliveries) {
          const current = worker === 0 ? await loseAndRetake(delivery) : delivery;
          settled.push(delivery.callId);
          running -= 1;
          expect(await handle.settleCall(settleRequest(current))).toBe('settled');
        }
      }
    };
    const loseAndRetake = async (delivery: Delivery): Promise<Delivery> => {
      await storeTimePasses(store, 2);
      const request = { lane: session.lane, pool: POOL, workerId: newWorkerId(), limit: 10, leaseMs: 1 };
      const { deliveries } = await store.reclaimCalls(request);
      expect(callIds(deliveries)).toEqual([delivery.callId]);
      return deliveries[0]!;
    };
    await Promise.all(handles.map(work));
    expect(settled).toEqual(accepted);
  });

  it('the admission bound holds when many accept at once', async () => {
    const handles = await scene.openMany(4);
    const session = await openSession(handles[0]!);
    const admission = { ...ROOMY, liveCalls: 10 };
    const answers = await spread(handles, 60, (handle) => handle.acceptCall(acceptRequest(session, { admission })));
    const kinds = answers.map((answer) => answer.kind);
    expect([countOf(kinds, 'accepted'), countOf(kinds, 'overloaded')]).toEqual([10, 50]);
    expect(await claimMany(handles[0]!, { lane: session.lane })).toHaveLength(10);
  });

  it('a released key is taken by one of many', async () => {
    const handles = await scene.openMany(4);
    const [store] = handles as [(typeof handles)[0]];
    const session = await openSession(store);
    const first = await holdOne(store, session, { key: 'k' });
    await store.settleCall(settleRequest(first, encodedOutcome('stale'), { releaseKey: true }));
    const answers = await spread(handles, 40, (handle) => handle.acceptCall(acceptRequest(session, { key: 'k' })));
    expect(
      countOf(
        answers.map((answer) => answer.kind),
        'accepted',
      ),
    ).toBe(1);
    expect(new Set(answers.map((answer) => Reflect.get(answer, 'callId')))).toEqual(new Set([`${first.callId}~2`]));
    expect(await claimMany(store, { lane: session.lane })).toHaveLength(1);
  });

  it('decide against cancel of a parked call has one winner', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    for (let round = 0; round < 40; round += 1) {
      const delivery = await holdOne(store, session);
      const asked = await askAbout(store, delivery);
      const { callId } = delivery;
      const [yes, no, cancelled] = await Promise.all([
        store.decideApproval(decideRequest(asked, 'allow-once')),
        other.decideApproval(decideRequest(asked, 'deny', { by: BOB })),
        other.cancelCall(cancelRequest(callId)),
      ]);
      const winners = [yes, no].filter(({ kind }) => kind === 'decided');
      const { state } = (await store.readApproval(asked.question.id))!;
      expect(winners).toEqual(state === 'cancelled' ? [] : [{ kind: 'decided', state }]);
      // An allowed call is queued, so the cancel ends it in either order; a denied one was settled first.
      expect(cancelled).toBe(state === 'denied' ? 'settled' : 'cancelled');
      expect(await claimMany(store, { lane: session.lane })).toEqual([]);
      expect(await terminalEvents(store, callId)).toEqual([state === 'denied' ? 'call.settled' : 'call.cancelled']);
    }
  });

  it('exactly one of two concurrent approvers decides, and the call follows that decision', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    for (let round = 0; round < 40; round += 1) {
      const asked = await askAbout(store, await holdOne(store, session));
      const [yes, no] = await Promise.all([
        store.decideApproval(decideRequest(asked, 'allow-once')),
        other.decideApproval(decideRequest(asked, 'deny', { by: BOB })),
      ]);
      const allowed = yes.kind === 'decided';
      expect([yes.kind, no.kind].sort()).toEqual(['already-decided', 'decided']);
      expect(yes).toHaveProperty('state', allowed ? 'allowed' : 'denied');
      expect(no).toHaveProperty('state', allowed ? 'allowed' : 'denied');
      const deliveries = await claimMany(store, { lane: session.lane });
      expect(callIds(deliveries)).toEqual(allowed ? [asked.callId] : []);
      for (const delivery of deliveries) await store.settleCall(settleRequest(delivery));
      expect(await terminalEvents(store, asked.callId)).toEqual(['call.settled']);
      expect((await store.readApproval(asked.question.id))?.votes).toHaveLength(1);
    }
  });

  it('decide against reap at the expiry has one winner', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    for (let round = 0; round < 20; round += 1) {
      const asked = await askAbout(store, await holdOne(store, session), { timeoutMs: 1 + round });
      const [answer, reaped] = await Promise.all([
        store.decideApproval(decideRequest(asked, 'deny')),
        other.reapCalls(reapRequest(session.lane)),
      ]);
      await storeTimePasses(store, 1 + round);
      const late = await store.reapCalls(reapRequest(session.lane));
      const { state } = (await store.readApproval(asked.question.id))!;
      expect(state).toBe(answer.kind === 'decided' ? 'denied' : 'expired');
      expect([...reaped.expired, ...late.expired]).toEqual(state === 'denied' ? [] : [asked.callId]);
      expect(await terminalEvents(store, asked.callId)).toHaveLength(1);
    }
  });

  it('claim against cancel of a queued call: the worker of a cancelled call can settle nothing', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    for (let round = 0; round < 60; round += 1) {
      const callId = await acceptOne(store, session, wide);
      const [deliveries, cancelled] = await Promise.all([
        claimMany(store, { lane: session.lane }),
        other.cancelCall(cancelRequest(callId)),
      ]);
      expect(cancelled).toBe('cancelled');
      for (const delivery of deliveries) expect(await store.settleCall(settleRequest(delivery))).toBe('fenced');
      expect((await recordOf(store, callId)).state).toBe('settled');
    }
    const entries = await readCallAudit(store, session.lane);
    expect(entries.map((entry) => entry.event)).toEqual(Array.from({ length: 60 }, () => 'call.cancelled'));
    await expect(claimOne(store, { lane: session.lane })).rejects.toThrow('Expected a call');
  });
}
