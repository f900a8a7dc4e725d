import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallId } from '../domain/identity/ids.ts';
import type { ReapRequest, RenewAnswer, RenewRequest } from '../domain/ports/call-requests.ts';
import type { Store } from '../domain/ports/store.ts';
import { deferred, partialStore, sampleDelivery, sampleLane } from '../../test/support/sample-call.ts';
import { createHeldCalls, type HeldCalls } from './held-calls.ts';
import { supervise, type StopOrder, type Supervision } from './supervise.ts';

const HEARTBEAT_MS = 1000;
const SETTINGS = {
  workerId: sampleDelivery().workerId,
  pool: 'default',
  heartbeatMs: HEARTBEAT_MS,
  leaseMs: 3 * HEARTBEAT_MS,
  retentionMs: 60_000,
};

describe('supervise', () => {
  let held: HeldCalls;
  let running: Supervision[];
  const orders: StopOrder[] = [];
  const failures: unknown[] = [];
  beforeEach(() => {
    vi.useFakeTimers();
    held = createHeldCalls(1000);
    running = [];
    orders.length = 0;
    failures.length = 0;
  });
  afterEach(async () => {
    const stopped = running.map((supervision) => supervision.stop());
    await vi.advanceTimersByTimeAsync(1000);
    await Promise.all(stopped);
    vi.useRealTimers();
  });

  function start(methods: Partial<Store>): Supervision {
    const store = partialStore({
      lanes: 1,
      recheckSessions: async () => ({ lane: sampleLane(), endings: [] }),
      renewCalls: async ({ calls }) => calls.map(() => 'renewed'),
      reapCalls: async () => ({ expired: [], overdue: [] }),
      ...methods,
    });
    const supervision = supervise(
      store,
      held.shared,
      SETTINGS,
      (order) => orders.push(order),
      (error) => failures.push(error),
    );
    running.push(supervision);
    return supervision;
  }

  it('renews the calls of a lane although another lane fails', async () => {
    const renewed: RenewRequest[] = [];
    held.hold(sampleDelivery(), 0);
    held.hold(sampleDelivery(), 1);
    start({
      lanes: 2,
      recheckSessions: async ({ lane }) => {
        if (lane === 0) throw new Error('the shard of lane 0 is down');
        return { lane: sampleLane(), endings: [] };
      },
      renewCalls: async (request) => {
        renewed.push(request);
        return ['renewed'];
      },
    });
    await vi.advanceTimersByTimeAsync(3.9 * HEARTBEAT_MS);
    expect(renewed.map(({ lane }) => lane)).toEqual([1, 1, 1, 1]);
    expect(failures.length).toBeGreaterThan(0);
  });

  it('renews the calls of a lane although another lane never answers', async () => {
    const renewed: RenewRequest[] = [];
    held.hold(sampleDelivery(), 0);
    held.hold(sampleDelivery(), 1);
    start({
      lanes: 2,
      recheckSessions: ({ lane }) =>
        lane === 0 ? new Promise(() => {}) : Promise.resolve({ lane: sampleLane(), endings: [] }),
      renewCalls: async (request) => {
        renewed.push(request);
        return ['renewed'];
      },
    });
    await vi.advanceTimersByTimeAsync(3.9 * HEARTBEAT_MS);
    expect(renewed.map(({ lane }) => lane)).toEqual([1, 1, 1, 1]);
  });

  it('renews the calls of a lane although reaping it never ends', async () => {
    const renewed: RenewRequest[] = [];
    held.hold(sampleDelivery(), 0);
    start({
      reapCalls: () => new Promise(() => {}),
      renewCalls: async (request) => {
        renewed.push(request);
        return ['renewed'];
      },
    });
    await vi.advanceTimersByTimeAsync(3.9 * HEARTBEAT_MS);
    expect(renewed).toHaveLength(4);
  });

  it('stops without the lane that never answers, and says nothing of it afterwards', async () => {
    const silent = deferred<never>();
    held.hold(sampleDelivery(), 1);
    const supervision = start({ lanes: 2, recheckSessions: () => silent.promise });
    let stopped = false;
    void supervision.stop().then(() => (stopped = true));
    await vi.advanceTimersByTimeAsync(1000);
    expect(stopped).toBe(true);
    silent.reject(new Error('the connection was closed'));
    await vi.advanceTimersByTimeAsync(1000);
    expect(failures).toEqual([]);
  });

  it('stops without waiting for its next round', async () => {
    const supervision = start({});
    await vi.advanceTimersByTimeAsync(10);
    await expect(supervision.stop()).resolves.toBeUndefined();
  });

  it('reaps the lanes that answer although another lane fails', async () => {
    const reaped = new Set<number>();
    start({
      lanes: 3,
      reapCalls: async ({ lane }) => {
        if (lane === 0) throw new Error('the shard of lane 0 is down');
        reaped.add(lane);
        return { expired: [], overdue: [] };
      },
    });
    await vi.advanceTimersByTimeAsync(2000);
    expect([...reaped]).toEqual([1, 2]);
  });

  it('reaps page after page until nothing is left, in one round', async () => {
    let left = 1234;
    const reapCalls = async ({ limit }: ReapRequest) => {
      const expired = Array.from({ length: Math.min(left, limit) }, (_, index) => `call-${index}` as CallId);
      left -= expired.length;
      return { expired, overdue: [] };
    };
    start({ reapCalls });
    await vi.advanceTimersByTimeAsync(1500);
    expect(left).toBe(0);
  });

  it('reaps a bounded number of pages in one round', async () => {
    const full = Array.from({ length: 100 }, (_, index) => `call-${index}` as CallId);
    let pages = 0;
    start({
      reapCalls: async () => {
        pages += 1;
        return { expired: full, overdue: [] };
      },
    });
    await vi.advanceTimersByTimeAsync(1500);
    expect(pages).toBe(50);
  });

  it('names the lease that is lost by its fence', async () => {
    const delivery = sampleDelivery();
    held.hold(delivery, 0);
    held.hold({ ...delivery, fence: 2 }, 0);
    start({
      renewCalls: async ({ calls }) => calls.map(({ fence }): RenewAnswer => (fence === 1 ? 'fenced' : 'renewed')),
    });
    await vi.advanceTimersByTimeAsync(0.5 * HEARTBEAT_MS);
    expect(orders).toEqual([{ callId: delivery.callId, entryId: delivery.entryId, fence: 1, why: 'lost' }]);
  });

  it('passes a cancellation on at the next look, long before the heartbeat', async () => {
    let cancelSequence = '0';
    const delivery = sampleDelivery();
    held.hold(delivery, 0);
    start({
      recheckSessions: async () => ({ lane: sampleLane({ cancelSequence }), endings: [] }),
      renewCalls: async () => [cancelSequence === '0' ? 'renewed' : 'cancel'],
    });
    await vi.advanceTimersByTimeAsync(100);
    cancelSequence = '1';
    await vi.advanceTimersByTimeAsync(300);
    expect(orders).toEqual([{ callId: delivery.callId, entryId: delivery.entryId, fence: 1, why: 'cancelled' }]);
  });

  it('notices a cancellation that came between the claim and its first look at the call', async () => {
    let cancelSequence = '0';
    const delivery = sampleDelivery();
    start({
      recheckSessions: async () => ({ lane: sampleLane({ cancelSequence }), endings: [] }),
      renewCalls: async () => [cancelSequence === '0' ? 'renewed' : 'cancel'],
    });
    const earlier = held.hold(sampleDelivery(), 0);
    await vi.advanceTimersByTimeAsync(300);
    held.release(earlier);
    await vi.advanceTimersByTimeAsync(300);
    held.hold(delivery, 0);
    cancelSequence = '1';
    await vi.advanceTimersByTimeAsync(300);
    expect(orders).toEqual([{ callId: delivery.callId, entryId: delivery.entryId, fence: 1, why: 'cancelled' }]);
  });

  it('looks for cancellations only in lanes where it holds calls', async () => {
    const asked: number[] = [];
    start({
      lanes: 3,
      recheckSessions: async ({ lane }) => {
        asked.push(lane);
        return { lane: sampleLane(), endings: [] };
      },
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([]);
    const slot = held.hold(sampleDelivery(), 2);
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toEqual([2]);
    held.release(slot);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([2]);
  });

  it('looks for expired calls every second, and for consumers that are gone once a minute', async () => {
    const pools: (readonly string[])[] = [];
    start({
      reapCalls: async (request) => {
        pools.push(request.pools);
        return { expired: [], overdue: [] };
      },
    });
    await vi.advanceTimersByTimeAsync(60_500);
    expect(pools).toHaveLength(60);
    expect(pools.filter(({ length }) => length > 0)).toHaveLength(1);
    expect(pools[0]).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(pools.filter(({ length }) => length > 0)).toHaveLength(2);
  });

  it('asks again about a cancellation when the renewal that would have reported it failed', async () => {
    let cancelSequence = '0';
    let failures = 2;
    held.hold(sampleDelivery(), 0);
    start({
      recheckSessions: async () => ({ lane: sampleLane({ cancelSequence }), endings: [] }),
      renewCalls: async () => {
        failures -= 1;
        if (failures >= 0) throw new Error('the store did not answer');
        return ['cancel'];
      },
    });
    await vi.advanceTimersByTimeAsync(10);
    cancelSequence = '1';
    await vi.advanceTimersByTimeAsync(3 * 300);
    expect(orders).toMatchObject([{ why: 'cancelled' }]);
  });

  it('has seen the store only when every lane answered', async () => {
    let down = true;
    const supervision = start({
      lanes: 2,
      reapCalls: async ({ lane }) => {
        if (lane === 1 && down) throw new Error('down');
        return { expired: [], overdue: [] };
      },
    });
    const before = supervision.storeSeenAt;
    await vi.advanceTimersByTimeAsync(1500);
    expect(supervision.storeSeenAt).toBe(before);
    down = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect(supervision.storeSeenAt).toBeGreaterThan(before);
  });
});
