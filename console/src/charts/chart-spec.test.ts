import { describe, expect, test } from 'vitest';
import { stackLayers, summariseValues } from './chart-spec.ts';
import { countGroups, groupOutcome, OUTCOME_GROUPS } from './outcome-groups.ts';
import { OUTCOME_KINDS } from '../../../src/domain/outcome.ts';

describe('stackLayers', () => {
  test('adds to each layer what is below it', () => {
    const layer = (values: (number | null)[]) => ({ label: '', tone: '', values });
    expect(stackLayers([layer([1, 2]), layer([3, null]), layer([0, 5])])).toEqual([
      [1, 2],
      [4, 2],
      [4, 7],
    ]);
  });
});

describe('summariseValues', () => {
  test('is the sum of a layer and the newest value of a line', () => {
    expect(summariseValues([1, null, 2], 'stack')).toBe(3);
    expect(summariseValues([1, 2, null], 'lines')).toBe(2);
    expect(summariseValues([null], 'lines')).toBeNull();
  });
});

describe('groupOutcome', () => {
  test('counts every kind of ending once', () => {
    const counts = countGroups(Object.fromEntries(OUTCOME_KINDS.map((kind) => [kind, 1])));
    expect(OUTCOME_GROUPS.reduce((sum, group) => sum + counts[group], 0)).toBe(OUTCOME_KINDS.length);
    expect(counts).toEqual({ ok: 1, failed: 4, refused: 8, stopped: 2, unsure: 1 });
  });

  test('a kind it does not know is none that went well', () => {
    expect(groupOutcome('melted')).toBe('refused');
    expect(groupOutcome('toString')).toBe('refused');
  });
});
