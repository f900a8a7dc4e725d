import { expect, it } from 'vitest';
import type { QueueState } from '../../../src/domain/ports/call-requests.ts';
import { newWorkerId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  callIds,
  claimMany,
  claimOne,
  newWaiter,
  openSession,
  POOL,
  settleRequest,
  TOOL,
} from '../fixtures.ts';
import { recordOf, sameBytes } from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeClaim(scene: Scene): void {
  it('claim delivers everything the worker needs, and the lane as it is now', async () => {
    const store = await scene.open();
    const session = await openSession(store, { channel: 'ops' });
    const request = acceptRequest(session, { deadlineMs: 9_000, waiter: newWaiter() });
    await store.acceptCall(request);
    const workerId = newWorkerId();
    const before = await store.now();
    const claim = { lane: session.lane, pool: POOL, workerId, limit: 5, waitMs: 0 };
    const { deliveries, lane } = await store.claimCalls(claim);
    const after = await store.now();

    const record = await recordOf(store, request.callId);
    expect(deliveries).toHaveLength(1);
    const delivery = deliveries[0]!;
    expect(delivery).toMatchObject({
      callId: request.callId,
      pool: POOL,
      workerId,
      lane: session.lane,
      envelope: sameBytes(request.envelope),
      bodyDigest: request.bodyDigest,
      tool: TOOL,
      session: session.id,
      run: session.run,
      acceptedAt: record.acceptedAt,
      deadline: record.acceptedAt + 9_000,
      handedBack: 0,
      eventsWanted: false,
    });
    expect(JSON.parse(delivery.identity)).toEqual(session.identity);
    expect(delivery.recovered).toBeUndefined();
    expect(delivery.resumedWith).toBeUndefined();
    expect(lane).toMatchObject({ epoch: delivery.epoch, policyVersion: 0, cancelSequence: expect.any(String) });
    expect(lane.now).toBeGreaterThanOrEqual(before);
    expect(lane.now).toBeLessThanOrEqual(after);
  });

  it('claim carries the earlier of absolute and idle expiry of the session', async () => {
    const store = await scene.open();
    const short = await openSession(store, { lifetimeMs: 60_000, idleMs: 600_000 });
    await acceptOne(store, short);
    expect((await claimOne(store, { lane: short.lane })).sessionExpiresAt).toBe(short.expiresAt);

    const idle = await openSession(store, { lifetimeMs: 600_000, idleMs: 60_000, lane: short.lane });
    const callId = await acceptOne(store, idle);
    const { acceptedAt } = await recordOf(store, callId);
    const { sessionExpiresAt } = await claimOne(store, { lane: idle.lane });
    expect(sessionExpiresAt).toBeLessThanOrEqual(acceptedAt + 60_000);
    expect(sessionExpiresAt).toBeGreaterThan(acceptedAt);
  });

  it('claim returns whether a waiter wants events', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptOne(store, session, { waiter: newWaiter({ events: true }) });
    expect((await claimOne(store, { lane: session.lane })).eventsWanted).toBe(true);
  });

  it('claim hands out calls in accept order, no more than asked for, each once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const accepted = await acceptMany(store, session, 5);
    expect(callIds(await claimMany(store, { lane: session.lane, limit: 2 }))).toEqual(accepted.slice(0, 2));
    expect(callIds(await claimMany(store, { lane: session.lane, limit: 2 }))).toEqual(accepted.slice(2, 4));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual(accepted.slice(4));
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
  });

  it('claim does not give a worker its own calls again', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptOne(store, session);
    const workerId = newWorkerId();
    await claimOne(store, { lane: session.lane, workerId });
    expect(await claimMany(store, { lane: session.lane, workerId })).toEqual([]);
  });

  it('claim sees only its own pool', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const heavy = await acceptOne(store, session, { pool: 'heavy' });
    const light = await acceptOne(store, session, { pool: 'light' });
    expect(await claimMany(store, { lane: session.lane, pool: 'idle' })).toEqual([]);
    expect(callIds(await claimMany(store, { lane: session.lane, pool: 'light' }))).toEqual([light]);
    expect(callIds(await claimMany(store, { lane: session.lane, pool: 'heavy' }))).toEqual([heavy]);
  });

  it('claim sees only its own lane, and every lane has its calls', async () => {
    const store = await scene.open();
    const accepted = new Map<number, string>();
    for (let lane = 0; lane < store.lanes; lane += 1) {
      accepted.set(lane, await acceptOne(store, await openSession(store, { lane })));
    }
    for (let lane = 0; lane < store.lanes; lane += 1) {
      expect(callIds(await claimMany(store, { lane }))).toEqual([accepted.get(lane)]);
    }
  });

  it('claim that waits is woken by an accept on another connection', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    // The wait is longer than a test may take, so only the wake-up can answer the request.
    const waiting = claimOne(store, { lane: session.lane, waitMs: 600_000 });
    const callId = await acceptOne(other, session);
    expect((await waiting).callId).toBe(callId);
  });

  it('claim that waits in vain answers with no delivery and the state of the lane', async () => {
    const store = await scene.open();
    const answer = await store.claimCalls({ lane: 0, pool: POOL, workerId: newWorkerId(), limit: 1, waitMs: 10 });
    expect(answer.deliveries).toEqual([]);
    expect(answer.lane.policyVersion).toBe(0);
  });

  it('queueState counts what waits and what is held, and nothing once all is settled', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptMany(store, session, 3);
    const held = await claimMany(store, { lane: session.lane, limit: 2 });
    const states = (await store.queueState()).filter((state) => state.queued + state.leased > 0);
    expect(states).toEqual([{ lane: session.lane, pool: POOL, queued: 1, leased: 2 }]);

    for (const delivery of [...held, ...(await claimMany(store, { lane: session.lane }))]) {
      await store.settleCall(settleRequest(delivery));
    }
    const left = (await store.queueState()).filter((state) => state.queued + state.leased > 0);
    expect(left).toEqual([]);
  });

  it('queueState counts, when asked, the calls behind earlier ones of a serial tool', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptMany(store, session, 3, { serial: true });
    await claimOne(store, { lane: session.lane });
    const own = (states: readonly QueueState[]): QueueState[] => states.filter(({ leased }) => leased > 0);
    const state = { lane: session.lane, pool: POOL, queued: 0, leased: 1 };
    expect(own(await store.queueState())).toEqual([state]);
    expect(own(await store.queueState({ backlog: true }))).toEqual([{ ...state, backlog: 2 }]);
  });

  it('listCalls names unsettled calls, soonest deadline first, without outcomes', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const late = await acceptOne(store, session, { deadlineMs: 900_000 });
    const soon = await acceptOne(store, session, { deadlineMs: 100_000 });
    const between = await acceptOne(store, session, { deadlineMs: 500_000 });
    const done = await acceptOne(store, session, { pool: 'done' });
    await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane, pool: 'done' })));

    const listed = await store.listCalls({ limit: 10 });
    expect(listed.map((record) => record.callId)).toEqual([soon, between, late]);
    expect(listed.map((record) => record.callId)).not.toContain(done);
    expect(listed.every((record) => record.outcome === undefined)).toBe(true);
    expect((await store.listCalls({ limit: 2 })).map((record) => record.callId)).toEqual([soon, between]);
  });

  it('findHolders names the worker of each claimed call, and none for calls that wait, are handed back, settled or unknown', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [settled, back, held] = [newWorkerId(), newWorkerId(), newWorkerId()];
    const claimBy = async (workerId: typeof held) => {
      await acceptOne(store, session);
      return claimOne(store, { lane: session.lane, workerId });
    };
    const unserved = await acceptOne(store, session, { pool: 'unserved' });
    const first = await claimBy(settled);
    await store.settleCall(settleRequest(first));
    const second = await claimBy(held);
    const third = await claimBy(back);
    expect(await store.findHolders([third.callId])).toStrictEqual([back]);
    await store.abandonCall({ ...third, handedBack: true });
    const unknown = `${second.callId}0` as typeof second.callId;
    expect(await store.findHolders([unserved, second.callId, first.callId, third.callId, unknown])).toStrictEqual([
      undefined,
      held,
      undefined,
      undefined,
      undefined,
    ]);
  });
}
