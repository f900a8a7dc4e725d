import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClaimRequest } from '../domain/ports/call-requests.ts';
import { partialStore, sampleDelivery, sampleLane } from '../../test/support/sample-call.ts';
import { timeStore } from './store-age.ts';

/** The time of the store's clock when the process's own clock is at zero. */
const STORE_EPOCH_MS = 1_800_000_000_000;
/** The store's time is in whole milliseconds, so every age is uncertain by this much. */
const TICK_MS = 1;

const claimOf = (lane: number): ClaimRequest => ({
  lane,
  pool: 'default',
  workerId: sampleDelivery().workerId,
  limit: 1,
  waitMs: 0,
});

describe('store age', () => {
  let shiftMs: number[];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
    shiftMs = [0, 0];
  });
  afterEach(() => void vi.useRealTimers());

  /** A request takes `sentAfterMs` until the store reads its clock. The answer then waits `liesMs` until the worker reads it. */
  let delay = { sentAfterMs: 0, liesMs: 0 };
  beforeEach(() => (delay = { sentAfterMs: 0, liesMs: 0 }));

  function open() {
    const answer = async (lane: number) => {
      vi.advanceTimersByTime(delay.sentAfterMs);
      const now = STORE_EPOCH_MS + performance.now() + shiftMs[lane]!;
      vi.advanceTimersByTime(delay.liesMs);
      return sampleLane({ now });
    };
    const { store, age } = timeStore(
      partialStore({
        claimCalls: async ({ lane }) => ({ deliveries: [], lane: await answer(lane) }),
        reclaimCalls: async ({ lane }) => ({ deliveries: [], lane: await answer(lane) }),
        recheckSessions: async ({ lane }) => ({ endings: [], lane: await answer(lane) }),
      }),
    );
    return {
      claim: async (lane = 0) => age.of(lane, (await store.claimCalls(claimOf(lane))).lane.now),
      reclaim: async (lane = 0) => age.of(lane, (await store.reclaimCalls({ ...claimOf(lane), leaseMs: 1 })).lane.now),
      recheck: async (lane = 0) => age.of(lane, (await store.recheckSessions({ lane, sessions: [] })).lane.now),
      age,
    };
  }

  it('of an answer that came promptly is nothing, however long its question waited in the store', async () => {
    const { claim, recheck } = open();
    await recheck();
    delay = { sentAfterMs: 700, liesMs: 0 };
    for (let round = 0; round < 5; round += 1) expect(await claim()).toBe(TICK_MS);
  });

  it('of an answer that lay before a stalled loop is as long as it lay', async () => {
    const { claim } = open();
    await claim();
    delay = { sentAfterMs: 500, liesMs: 4000 };
    expect(await claim()).toBe(4000 + TICK_MS);
    delay = { sentAfterMs: 0, liesMs: 0 };
    expect(await claim()).toBe(TICK_MS);
  });

  it('of the very first answer is not less than it may have lain', async () => {
    const { claim } = open();
    delay = { sentAfterMs: 0, liesMs: 3000 };
    expect(await claim()).toBeGreaterThanOrEqual(3000);
  });

  it('of an answer that lay is never forgotten, although no prompt one came for an hour', async () => {
    const { claim } = open();
    await claim();
    delay = { sentAfterMs: 10, liesMs: 3000 };
    for (let minute = 0; minute < 60; minute += 1) {
      vi.advanceTimersByTime(57_000);
      expect(await claim()).toBeGreaterThanOrEqual(3000);
    }
  });

  it.each(['claim', 'reclaim', 'recheck'] as const)('learns from the answer to a %s', async (question) => {
    const store = open();
    await store[question]();
    delay = { sentAfterMs: 900, liesMs: 0 };
    expect(await store.claim()).toBe(TICK_MS);
  });

  it('before the first answer is beyond every bound', () => {
    const { age } = open();
    expect(age.of(0, STORE_EPOCH_MS)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is right again with the first answer after the store’s clock jumped back', async () => {
    const { claim } = open();
    await claim();
    shiftMs[0] = -5000;
    expect(await claim()).toBe(TICK_MS);
    delay = { sentAfterMs: 0, liesMs: 400 };
    expect(await claim()).toBe(400 + TICK_MS);
  });

  it('of an answer that lay is not hidden by a store’s clock that jumped ahead', async () => {
    const { claim } = open();
    await claim();
    shiftMs[0] = 3_600_000;
    delay = { sentAfterMs: 0, liesMs: 500 };
    expect(await claim()).toBeGreaterThanOrEqual(500);
    delay = { sentAfterMs: 0, liesMs: 0 };
    await claim();
    delay = { sentAfterMs: 800, liesMs: 300 };
    expect(await claim()).toBe(300 + TICK_MS);
  });

  it('is computed for every lane by the clock of its own node', async () => {
    shiftMs[1] = 60_000;
    const { claim } = open();
    await claim(0);
    await claim(1);
    delay = { sentAfterMs: 900, liesMs: 250 };
    expect(await claim(0)).toBe(250 + TICK_MS);
    expect(await claim(1)).toBe(250 + TICK_MS);
  });
});
