import { describe, expect, it } from 'vitest';
import { paceHandBack } from './pace-hand-back.ts';

/** The pauses of a call that is handed back again and again. */
function pausesOf(notServing: number, count: number): (number | undefined)[] {
  return Array.from({ length: count }, (_, handedBack) => paceHandBack(handedBack, { serving: 1, notServing }));
}

describe('paceHandBack', () => {
  it('hands a call on at once to each of those that do not serve it, then once a round, later each time', () => {
    expect(pausesOf(1, 5)).toEqual([0, 10, 20, 30, 40]);
    expect(pausesOf(1, 40).slice(24)).toEqual([240, ...Array.from({ length: 15 }, () => 250)]);
    expect(pausesOf(3, 12)).toEqual([0, 0, 0, 30, 0, 0, 60, 0, 0, 90, 0, 0]);
  });

  it('ends a call that no worker serves', () => {
    expect(paceHandBack(0, { serving: 0, notServing: 2 })).toBeUndefined();
  });

  it.each([1, 2, 7, 100])('ends a call that went round %i workers too often', (notServing) => {
    const pauses = pausesOf(notServing, 1000 * notServing + 1);
    expect(pauses.indexOf(undefined)).toBe(1000 * notServing);
  });

  it.each([1, 2, 10, 100, 1000])('hands a call on at most a hundred times a second among %i workers', (notServing) => {
    // Without the first round: in it the call is handed back without a pause, to find a worker quickly.
    const pauses = pausesOf(notServing, 100 * notServing).slice(notServing);
    const tookMs = pauses.reduce<number>((sum, ms) => sum + ms!, 0);
    expect(pauses.length / (tookMs / 1000)).toBeLessThanOrEqual(100);
  });
});
