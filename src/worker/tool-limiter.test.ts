import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../domain/tool/tool.ts';
import { deferred, sampleServedTool, type Deferred } from '../../test/support/sample-call.ts';
import { createSlots } from './slots.ts';
import { createToolLimiter } from './tool-limiter.ts';

function planeWith(concurrency: number | undefined) {
  const limits = concurrency === undefined ? DEFAULT_LIMITS : { ...DEFAULT_LIMITS, concurrency };
  return { tools: () => ({ find: () => sampleServedTool({ limits }), near: () => [] }) };
}

/** A limiter and its runs. `begin` takes a slot before the run, as the consumer does. */
function stage(concurrency: number | undefined, total: number) {
  const slots = createSlots(total);
  const limiter = createToolLimiter(slots);
  const plane = planeWith(concurrency);
  const begun: number[] = [];
  const works: Deferred<void>[] = [];
  return {
    slots,
    begun,
    begin: (index: number, tool = 'notes.add'): Promise<void> => {
      slots.retake();
      const work = deferred();
      works[index] = work;
      return limiter
        .run(tool, plane, () => {
          begun.push(index);
          return work.promise;
        })
        .finally(() => slots.release(1));
    },
    end: async (index: number): Promise<void> => {
      works[index]!.resolve();
      await settled();
    },
    fail: (index: number) => works[index]!.reject(new Error('thrown')),
  };
}

/** Resolves when all promise callbacks that were already due have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('tool limiter', () => {
  it('a call that waits for its turn lends its slot to other tools', async () => {
    const { slots, begin, begun } = stage(1, 4);
    for (let index = 0; index < 4; index += 1) void begin(index);
    await settled();
    expect(begun).toEqual([0]);
    expect(slots.free).toBe(3);
  });

  it('a call takes its slot back with its turn', async () => {
    const { slots, begin, begun, end } = stage(1, 4);
    const calls = [0, 1].map((index) => begin(index));
    await end(0);
    expect(begun).toEqual([0, 1]);
    expect(slots.free).toBe(3);
    await end(1);
    await Promise.all(calls);
    expect(slots.free).toBe(4);
  });

  it('no more than 32 calls of one tool wait without a slot', async () => {
    const { slots, begin, end } = stage(1, 100);
    const calls = Array.from({ length: 50 }, (_, index) => begin(index));
    await settled();
    // One call runs. Of the 49 that wait, 32 have lent their slots and 17 keep them.
    expect(slots.free).toBe(100 - 18);
    for (let index = 0; index < 50; index += 1) await end(index);
    await Promise.all(calls);
    expect(slots.free).toBe(100);
  });

  it('as many run at once as the tool allows, in the order they came', async () => {
    const { begin, begun, end } = stage(2, 8);
    for (let index = 0; index < 5; index += 1) void begin(index);
    await settled();
    expect(begun).toEqual([0, 1]);
    await end(1);
    expect(begun).toEqual([0, 1, 2]);
    await end(0);
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it('a run that throws gives its turn on', async () => {
    const { begin, begun, end, fail } = stage(1, 4);
    const first = begin(0);
    const second = begin(1);
    fail(0);
    await expect(first).rejects.toThrow('thrown');
    await end(1);
    await second;
    expect(begun).toEqual([0, 1]);
  });

  it('a tool without a bound, and another tool, do not wait', async () => {
    const unbounded = stage(undefined, 4);
    for (let index = 0; index < 3; index += 1) void unbounded.begin(index);
    await settled();
    expect(unbounded.begun).toEqual([0, 1, 2]);
    const two = stage(1, 4);
    void two.begin(0, 'notes.add');
    void two.begin(1, 'notes.list');
    await settled();
    expect(two.begun).toEqual([0, 1]);
  });
});
