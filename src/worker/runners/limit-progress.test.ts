import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Progress } from '../../domain/ports/tool-runner.ts';
import { limitProgress, saneProgress } from './limit-progress.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('limitProgress delivers the first report at once and the latest each 100 ms', () => {
  const seen: Progress[] = [];
  const limiter = limitProgress((progress) => seen.push(progress));
  for (let done = 1; done <= 1000; done += 1) limiter.report({ done });
  expect(seen).toEqual([{ done: 1 }]);
  vi.advanceTimersByTime(100);
  expect(seen).toEqual([{ done: 1 }, { done: 1000 }]);
  limiter.report({ done: 1001 });
  vi.advanceTimersByTime(99);
  expect(seen).toHaveLength(2);
});

test('limitProgress delivers nothing after close', () => {
  const seen: Progress[] = [];
  const limiter = limitProgress((progress) => seen.push(progress));
  limiter.report({ done: 1 });
  limiter.report({ done: 2 });
  limiter.close();
  limiter.report({ done: 3 });
  vi.advanceTimersByTime(1000);
  expect(seen).toEqual([{ done: 1 }]);
  expect(vi.getTimerCount()).toBe(0);
});

test('saneProgress clamps numbers and drops what is none', () => {
  expect(saneProgress({ done: 7, total: 5 })).toEqual({ done: 5, total: 5 });
  expect(saneProgress({ done: -1, total: Infinity, message: 'x'.repeat(1000) })).toEqual({
    done: 0,
    message: 'x'.repeat(500),
  });
  expect(saneProgress({ done: Number.NaN })).toBeUndefined();
  expect(saneProgress(null)).toBeUndefined();
  expect(
    saneProgress(
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('x');
          },
        },
      ),
    ),
  ).toBeUndefined();
});
