import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  AbandonRequest,
  ClaimAnswer,
  ClaimRequest,
  Delivery,
  LaneState,
  SettleAnswer,
  SettleRequest,
} from '../domain/ports/call-requests.ts';
import type { Plane } from '../domain/ports/plane.ts';
import type { Store } from '../domain/ports/store.ts';
import { CLOSED_POLICY } from '../domain/policy/policy.ts';
import type { DiagnosticEvent } from '../domain/events/diagnostic-event.ts';
import { createEventBus } from '../observe/event-bus.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { deferred, partialStore, sampleDelivery, sampleLane, SILENT_LOG } from '../../test/support/sample-call.ts';
import { consume, type Consumer, type ConsumerNeeds } from './consume.ts';
import { createHeldCalls } from './held-calls.ts';
import { createInFlight } from './in-flight.ts';
import { createToolLimiter } from './tool-limiter.ts';
import { createSlots } from './slots.ts';
import { timeStore } from './store-age.ts';
import { createVitalSigns } from './vital-signs.ts';

const FOR_EVER = { sessionExpiresAt: Number.MAX_SAFE_INTEGER, deadline: Number.MAX_SAFE_INTEGER };
/** A call whose envelope is gone: it is settled with an error at once, and no tool runs. */
const emptyCall = (overrides: Partial<Delivery> = {}): Delivery =>
  sampleDelivery({ envelope: new Uint8Array(), ...FOR_EVER, ...overrides });
/** The store's clock is 5,000 s ahead of the process's clock and runs at the same speed. */
const laneNow = (): LaneState => sampleLane({ now: 5_000_000 + performance.now() });
const delivers = (...deliveries: Delivery[]): ClaimAnswer => ({ deliveries, lane: laneNow() });

describe('consume', () => {
  let consumers: Consumer[];
  beforeEach(() => {
    consumers = [];
    vi.useFakeTimers();
  });
  afterEach(async () => {
    const stopped = consumers.map((consumer) => Promise.all([consumer.stop(), consumer.stopNested()]));
    await vi.advanceTimersByTimeAsync(5000);
    await Promise.all(stopped);
    vi.useRealTimers();
  });

  interface StartOptions extends Partial<ConsumerNeeds> {
    readonly concurrency?: number;
    readonly claimNested?: Store['claimCalls'];
  }

  function start(methods: Partial<Store>, options: StartOptions = {}) {
    const { concurrency = 4, claimNested = ({ waitMs }) => nothingFor(waitMs), ...needs } = options;
    const settled: SettleRequest[] = [];
    const events = createEventBus();
    const { store, age } = timeStore(
      partialStore({
        lanes: 1,
        reclaimCalls: async () => delivers(),
        settleCall: async (request) => {
          settled.push(request);
          return 'settled';
        },
        ...methods,
        // `methods.claimCalls` delivers no nested calls; a test that needs some sets `claimNested`.
        claimCalls: (request) => {
          if (request.pool !== 'default') return claimNested(request);
          return methods.claimCalls?.(request) ?? nothingFor(request.waitMs);
        },
      }),
    );
    const plane = {
      store,
      log: SILENT_LOG,
      events,
      policies: { atLeast: (version: number) => ({ version, policy: CLOSED_POLICY }) },
      tools: () => ({ find: () => undefined, near: () => [] }),
      onSettled: () => undefined,
      settings: { retentionMs: 60_000, trustSnapshotMs: 250 },
    } as unknown as Plane;
    const slots = createSlots(concurrency);
    const inFlight = createInFlight(createHeldCalls(200));
    const settings = { workerId: emptyCall().workerId, pool: 'default', concurrency, leaseMs: 300 };
    const consumer = consume(settings, {
      store,
      age,
      plane,
      slots,
      nestedSlots: createSlots(1),
      limiter: createToolLimiter(slots),
      inFlight,
      vitals: createVitalSigns(),
      onNestedWait: () => () => undefined,
      log: SILENT_LOG,
      ...needs,
    });
    consumers.push(consumer);
    return { consumer, slots, inFlight, settled, events };
  }

  it('reads every lane although it has fewer slots than lanes', async () => {
    const asked = new Set<number>();
    const claimCalls = ({ lane, waitMs }: ClaimRequest) => {
      asked.add(lane);
      return nothingFor(waitMs);
    };
    start({ lanes: 16, claimCalls }, { concurrency: 4 });
    await vi.advanceTimersByTimeAsync(3000);
    expect([...asked].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, lane) => lane));
  });

  it('gives all its slots to one lane when the others have nothing', async () => {
    const queue = Array.from({ length: 80 }, () => emptyCall({ lane: 5 }));
    const claimCalls = ({ lane, limit, waitMs }: ClaimRequest) =>
      lane === 5 && queue.length > 0 ? Promise.resolve(delivers(...queue.splice(0, limit))) : nothingFor(waitMs);
    const held = deferred<SettleAnswer>();
    const { inFlight } = start({ lanes: 16, claimCalls, settleCall: () => held.promise }, { concurrency: 64 });
    await vi.advanceTimersByTimeAsync(2000);
    expect(inFlight.size).toBe(64);
    held.resolve('settled');
    await vi.advanceTimersByTimeAsync(2000);
    expect(queue).toEqual([]);
  });

  it('exceeds its bound by no more than one call for each lane', async () => {
    const claimCalls = async ({ lane, limit }: ClaimRequest) =>
      delivers(...Array.from({ length: limit }, () => emptyCall({ lane })));
    const held = deferred<SettleAnswer>();
    const { consumer, inFlight } = start({ lanes: 8, claimCalls, settleCall: () => held.promise }, { concurrency: 4 });
    await vi.advanceTimersByTimeAsync(3000);
    expect(inFlight.size).toBeGreaterThanOrEqual(4);
    expect(inFlight.size).toBeLessThanOrEqual(4 + 8);
    const stopped = consumer.stop();
    held.resolve('settled');
    await vi.advanceTimersByTimeAsync(1000);
    await stopped;
  });

  it('gives nested calls back that a read brings after the end, and begins none of them', async () => {
    const read = deferred<ClaimAnswer>();
    const abandoned: AbandonRequest[] = [];
    const abandonCall: Store['abandonCall'] = async (request) => {
      abandoned.push(request);
      return 'abandoned';
    };
    const { consumer, settled, inFlight } = start({ abandonCall }, { claimNested: () => read.promise });
    await vi.advanceTimersByTimeAsync(10);
    const stopped = consumer.stopNested();
    const call = emptyCall();
    read.resolve(delivers(call));
    await stopped;
    expect(abandoned.map(({ callId }) => callId)).toEqual([call.callId]);
    expect(settled).toEqual([]);
    expect(inFlight.size).toBe(0);
  });

  it('emits an event for a call that it leaves, and none without a listener', async () => {
    const queue: Delivery[] = [];
    const claimCalls = ({ limit, waitMs }: ClaimRequest) =>
      queue.length > 0 ? Promise.resolve(delivers(...queue.splice(0, limit))) : nothingFor(waitMs);
    const settleCall = () => Promise.reject(new Error('secret'));
    const { events } = start({ claimCalls, settleCall });
    queue.push(emptyCall());
    await vi.advanceTimersByTimeAsync(3000);
    const heard: DiagnosticEvent[] = [];
    events.subscribe((event) => heard.push(event));
    const left = emptyCall();
    queue.push(left);
    await vi.advanceTimersByTimeAsync(3000);
    expect(heard.map(({ kind, callId }) => [kind, callId])).toStrictEqual([
      ['call.admitted', left.callId],
      ['call.refused', left.callId],
      ['call.left', left.callId],
    ]);
    expect(heard[2]).toMatchObject({ error: { category: 'internal' } });
  });

  it('checks the session again when the answer lay before a stalled loop', async () => {
    const late = emptyCall();
    const lies = deferred();
    const lain = async (): Promise<ClaimAnswer> => {
      const answer = delivers(late);
      await lies.promise;
      return answer;
    };
    const answers = [async () => delivers(emptyCall()), lain];
    const rechecked: string[] = [];
    const { settled } = start({
      claimCalls: ({ waitMs }) => answers.shift()?.() ?? nothingFor(waitMs),
      recheckSessions: async ({ sessions }) => {
        rechecked.push(...sessions.map(({ session }) => session));
        return { lane: laneNow(), endings: ['revoked'] };
      },
    });
    await vi.advanceTimersByTimeAsync(2000);
    lies.resolve();
    await vi.advanceTimersByTimeAsync(20);
    expect(rechecked).toEqual([late.session]);
    expect(settled.map(({ outcome }) => decodeOutcome(outcome).error?.code)).toEqual(['BODY_LOST', 'SESSION_ENDED']);
  });

  it.each([1, 2])('gives back at once what its reads of %i lanes bring after it was stopped', async (lanes) => {
    const read = deferred<ClaimAnswer>();
    const given: AbandonRequest[] = [];
    const handedOver = deferred<'abandoned'>();
    const { consumer, settled, slots } = start({
      lanes,
      claimCalls: ({ lane, waitMs }) => (lane === 0 && waitMs > 0 ? read.promise : nothingFor(waitMs)),
      abandonCall: (request) => {
        given.push(request);
        return handedOver.promise;
      },
    });
    await vi.advanceTimersByTimeAsync(10);
    let stopped = false;
    void consumer.stop().then(() => (stopped = true));
    const late = [emptyCall(), emptyCall()].slice(0, lanes === 1 ? 2 : 1);
    read.resolve(delivers(...late));
    await vi.advanceTimersByTimeAsync(5000);
    expect(given.map(({ callId, handedBack }) => [callId, handedBack])).toEqual(
      late.map(({ callId }) => [callId, false]),
    );
    expect(stopped).toBe(false);
    handedOver.resolve('abandoned');
    await vi.advanceTimersByTimeAsync(10);
    expect(stopped).toBe(true);
    expect(settled).toEqual([]);
    expect(await slots.reserve(4, 0)).toBe(4);
  });

  it('stops although what came late cannot be given back', async () => {
    const read = deferred<ClaimAnswer>();
    const { consumer, settled } = start({
      claimCalls: ({ waitMs }) => (waitMs > 0 ? read.promise : nothingFor(waitMs)),
      abandonCall: async () => {
        throw new Error('the store is away');
      },
    });
    await vi.advanceTimersByTimeAsync(10);
    const stopped = consumer.stop();
    read.resolve(delivers(emptyCall()));
    await vi.advanceTimersByTimeAsync(10);
    await expect(stopped).resolves.toBeUndefined();
    expect(settled).toEqual([]);
  });

  it('stops only when a recovery on its way has come back, and gives back what it brought', async () => {
    const reclaim = deferred<ClaimAnswer>();
    const lost = emptyCall({ fence: 2, recovered: { starts: 0, wasRunning: false, cancelRequested: false } });
    const abandoned: Delivery[] = [];
    const { consumer, settled } = start({
      reclaimCalls: () => reclaim.promise,
      abandonCall: async (request) => {
        abandoned.push(request as unknown as Delivery);
        return 'abandoned';
      },
    });
    await vi.advanceTimersByTimeAsync(200);
    let hasStopped = false;
    const stopping = consumer.stop().then(() => (hasStopped = true));
    await vi.advanceTimersByTimeAsync(2000);
    expect(hasStopped).toBe(false);
    reclaim.resolve(delivers(lost));
    await stopping;
    expect(abandoned).toMatchObject([{ callId: lost.callId, fence: 2, handedBack: false }]);
    expect(settled).toEqual([]);
  });

  it('recovers one call at a time, and the next when the first waits for a call of its own', async () => {
    const recovered = { starts: 0, wasRunning: false, cancelRequested: false };
    const lost = [emptyCall({ fence: 2, recovered }), emptyCall({ fence: 2, recovered })];
    const parent = lost[0]!;
    const held = deferred<SettleAnswer>();
    const settling: string[] = [];
    let onWait: (() => void) | undefined;
    const { slots } = start(
      {
        reclaimCalls: async ({ pool }) => delivers(...(pool === 'default' ? lost.splice(0, 1) : [])),
        settleCall: ({ callId }) => {
          settling.push(callId);
          return held.promise;
        },
      },
      {
        onNestedWait(delivery, listener) {
          if (delivery.callId === parent.callId) onWait = listener;
          return () => undefined;
        },
      },
    );
    await vi.advanceTimersByTimeAsync(1000);
    expect(settling).toEqual([parent.callId]);
    onWait?.();
    await vi.advanceTimersByTimeAsync(1000);
    expect(settling).toHaveLength(2);
    held.resolve('settled');
    await vi.advanceTimersByTimeAsync(1000);
    // All calls have given their slots back, and the reader of the only lane has reserved all slots for its next read.
    expect(slots.free).toBe(0);
  });

  it('leaves a call that it cannot hold to others and keeps its slot', async () => {
    const calls = [emptyCall(), emptyCall(), emptyCall()];
    const held = deferred<SettleAnswer>();
    const claimCalls = ({ limit, waitMs }: ClaimRequest) =>
      calls.length > 0 ? Promise.resolve(delivers(...calls.splice(0, limit))) : nothingFor(waitMs);
    const small = createInFlight(createHeldCalls(2));
    const { slots } = start({ claimCalls, settleCall: () => held.promise }, { concurrency: 3, inFlight: small });
    await vi.advanceTimersByTimeAsync(100);
    expect(small.size).toBe(2);
    held.resolve('settled');
    await vi.advanceTimersByTimeAsync(10);
    expect(small.size).toBe(0);
    expect(slots.free).toBeGreaterThanOrEqual(0);
  });

  it('holds every call of a batch before it enters the first tool', async () => {
    const calls = [emptyCall(), emptyCall(), emptyCall()];
    const heldAtFirst: number[] = [];
    const claimCalls = ({ limit, waitMs }: ClaimRequest) =>
      calls.length > 0 ? Promise.resolve(delivers(...calls.splice(0, limit))) : nothingFor(waitMs);
    const settleCall = (): Promise<SettleAnswer> => {
      heldAtFirst.push(inFlight.size);
      return Promise.resolve('settled');
    };
    const { inFlight } = start({ claimCalls, settleCall });
    await vi.advanceTimersByTimeAsync(100);
    expect(heldAtFirst).toEqual([3, 3, 3]);
  });

  it('halts when the store was replaced', async () => {
    const replaced = Object.assign(new Error('replaced'), { code: 'STORE_REPLACED' });
    const { consumer } = start({ claimCalls: () => Promise.reject(replaced) });
    await expect(consumer.halted).rejects.toBe(replaced);
  });
});

function nothingFor(waitMs: number): Promise<ClaimAnswer> {
  return new Promise((resolve) => setTimeout(() => resolve(delivers()), waitMs));
}
