import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSlots } from './slots.ts';

const LONG_MS = 60_000;

describe('slots', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('a released slot goes to the waiting call, not to the one that released it and asks again', async () => {
    const slots = createSlots(1);
    await slots.reserve(1, 0);
    const waiting = slots.reserve(1, LONG_MS);
    slots.release(1);
    const again = slots.reserve(1, 0);
    expect(await Promise.all([waiting, again])).toEqual([1, 0]);
  });

  it('a free slot is not given past those who wait', async () => {
    const slots = createSlots(2);
    await slots.reserve(2, 0);
    const order: string[] = [];
    const first = slots.reserve(1, LONG_MS).then(() => order.push('first'));
    const second = slots.reserve(1, LONG_MS).then(() => order.push('second'));
    slots.release(1);
    const third = slots.reserve(1, LONG_MS).then(() => order.push('third'));
    slots.release(2);
    await Promise.all([first, second, third]);
    expect(order).toEqual(['first', 'second', 'third']);
  });

  it('several released slots serve several who wait, each with no more than it asked for', async () => {
    const slots = createSlots(3);
    await slots.reserve(3, 0);
    const waiting = [slots.reserve(2, LONG_MS), slots.reserve(2, LONG_MS)];
    slots.release(3);
    expect(await Promise.all(waiting)).toEqual([2, 1]);
    expect(slots.free).toBe(0);
  });

  it('waiting in vain ends with nothing, and the slot released later goes to the next', async () => {
    const slots = createSlots(1);
    await slots.reserve(1, 0);
    const impatient = slots.reserve(1, 10);
    const patient = slots.reserve(1, LONG_MS);
    await vi.advanceTimersByTimeAsync(10);
    expect(await impatient).toBe(0);
    slots.release(1);
    expect(await patient).toBe(1);
    expect(slots.free).toBe(0);
  });

  it('a slot taken beyond the bound is paid back before a waiting call is served', async () => {
    const slots = createSlots(1);
    await slots.reserve(1, 0);
    slots.retake();
    let served = false;
    const waiting = slots.reserve(1, LONG_MS).then(() => (served = true));
    slots.release(1);
    await Promise.resolve();
    expect(served).toBe(false);
    slots.release(1);
    await waiting;
    expect(slots.free).toBe(0);
  });

  it('gives out all slots and never more, for any order of requests and releases', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('reserve' as const), max: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ kind: fc.constant('release' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 40 }), async (total, steps) => {
        const slots = createSlots(total);
        const granted: number[] = [];
        let out = 0;
        let waiting = 0;
        for (const each of steps) {
          if (each.kind === 'reserve') {
            waiting += 1;
            void slots.reserve(each.max, LONG_MS).then((count) => {
              granted.push(count);
              out += count;
              waiting -= 1;
            });
          } else if (out > 0) {
            out -= 1;
            slots.release(1);
          }
          await vi.advanceTimersByTimeAsync(0);
          expect(out).toBeLessThanOrEqual(total);
          expect(slots.free).toBe(total - out);
          expect(waiting === 0 || slots.free === 0).toBe(true);
        }
        expect(granted.every((count) => count > 0)).toBe(true);
      }),
    );
  });
});
