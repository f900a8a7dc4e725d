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
