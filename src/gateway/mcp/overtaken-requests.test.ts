import { expect, it } from 'vitest';
import { OvertakenRequests } from './overtaken-requests.ts';

it('a request that was cancelled before it came is known once, for a while, and of the last ones only', () => {
  let now = 0;
  const overtaken = new OvertakenRequests(() => now);
  overtaken.add(7);
  expect([overtaken.take('7'), overtaken.take(7), overtaken.take(7)]).toEqual([false, true, false]);
  overtaken.add(8);
  now = 10_000;
  expect(overtaken.take(8)).toBe(false);
  for (let id = 0; id <= 64; id += 1) overtaken.add(id);
  expect([overtaken.take(0), overtaken.take(1), overtaken.take(64)]).toEqual([false, true, true]);
});
