import { expect, it } from 'vitest';
import { DurationCounts } from './duration-counts.ts';

it('quantiles of durations are right to within a seventh, over the whole range', () => {
  for (const scale of [0.01, 1, 10, 1000, 60_000]) {
    const counts = new DurationCounts();
    for (let number = 1; number <= 1000; number += 1) counts.add((number * scale) / 10);
    const { p50, p90, p99 } = counts.quantiles();
    for (const [found, exact] of [
      [p50!, 50 * scale],
      [p90!, 90 * scale],
      [p99!, 99 * scale],
    ] as const) {
      expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(1 / 7);
    }
  }
});

it('quantiles are durations that were measured, and never below the share that they stand for', () => {
  const counts = new DurationCounts();
  const runs = [4.6, 5.4, 7, 12, 31, 40, 58, 61, 67, 104];
  for (const run of runs) counts.add(run);
  const { p50, p90, p99 } = counts.quantiles();
  for (const found of [p50!, p90!, p99!]) expect(runs).toContain(found);
  expect(p50).toBeGreaterThanOrEqual(31);
  expect(p90).toBeGreaterThanOrEqual(67);
  expect(p99).toBe(104);
  const one = new DurationCounts();
  one.add(0.1 + 0.2);
  expect(one.quantiles()).toEqual({ p50: 0.3, p90: 0.3, p99: 0.3 });
});

it('nothing that ran has no quantiles', () => {
  expect(new DurationCounts().quantiles()).toEqual({});
});

it('counts that are put together say the same as if they had been one', () => {
  const [one, other, all] = [new DurationCounts(), new DurationCounts(), new DurationCounts()];
  for (let number = 0; number < 500; number += 1) {
    (number % 3 === 0 ? one : other).add(number);
    all.add(number);
  }
  one.addAll(other);
  expect(one.quantiles()).toEqual(all.quantiles());
});
