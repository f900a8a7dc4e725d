import { describe, expect, it } from 'vitest';
import { deferred, type Deferred } from '../../../test/support/sample-call.ts';
import { createBatcher, type BatcherOptions } from './batch-per-lane.ts';

/** Makes a batcher of numbers. The test answers each round trip by its number. */
function stage(options: Partial<BatcherOptions> = {}) {
  const trips: { requests: number[]; answer: Deferred<readonly string[]> }[] = [];
  const batcher = createBatcher<number, string>(
    (requests) => {
      const answer = deferred<readonly string[]>();
      trips.push({ requests, answer });
      return answer.promise;
    },
    { maxBatch: 10, maxBatchBytes: 1000, maxTrips: 1, sizeOf: (request) => request, ...options },
  );
  return {
    trips,
    add: (...requests: number[]) => requests.map((request) => batcher.add(request)),
    answer: (trip: number) => trips[trip]!.answer.resolve(trips[trip]!.requests.map((request) => `to ${request}`)),
    sent: () => trips.map(({ requests }) => requests),
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('batcher', () => {
  it('sends what comes together in one trip and gives each its own answer', async () => {
    const { add, answer, sent } = stage();
    const answers = add(1, 2, 3);
    await settled();
    expect(sent()).toEqual([[1, 2, 3]]);
    answer(0);
    expect(await Promise.all(answers)).toEqual(['to 1', 'to 2', 'to 3']);
  });

  it('gathers what comes during a trip for the next one', async () => {
    const { add, answer, sent } = stage();
    void add(1);
    await settled();
    void add(2);
    void add(3);
    await settled();
    expect(sent()).toEqual([[1]]);
    answer(0);
    await settled();
    expect(sent()).toEqual([[1], [2, 3]]);
  });

  it('keeps within the number and the bytes of a batch, in the order asked', async () => {
    const { add, answer, sent } = stage({ maxBatch: 3, maxBatchBytes: 100 });
    void add(1, 2, 3, 4, 60, 50, 40, 500, 7);
    for (let trip = 0; trip < 5; trip += 1) {
      await settled();
      answer(trip);
    }
    expect(sent()).toEqual([[1, 2, 3], [4, 60], [50, 40], [500], [7]]);
  });

  it('has no more trips under way than it may', async () => {
    const { add, answer, sent } = stage({ maxBatch: 1, maxTrips: 2 });
    void add(1, 2, 3);
    await settled();
    expect(sent()).toEqual([[1], [2]]);
    answer(1);
    await settled();
    expect(sent()).toEqual([[1], [2], [3]]);
  });

  it('a trip that fails fails its own requests and no others', async () => {
    const { add, answer, trips } = stage({ maxBatch: 1 });
    const [first, second] = add(1, 2);
    await settled();
    trips[0]!.answer.reject(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    await settled();
    answer(1);
    expect(await second).toBe('to 2');
  });
});
