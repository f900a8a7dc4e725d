import { describe, expect, test } from 'vitest';
import { findIsolated, stackLayers, summariseValues, timeRange } from './chart-spec.ts';
import { countGroups, groupOutcome, CHART_GROUPS } from './outcome-groups.ts';
import { matchesCall } from '../../../src/domain/call/call-filter.ts';
import { OUTCOME_KINDS } from '../../../src/domain/outcome/outcome.ts';

const CALL = { callId: 'c', tool: 't', agent: 'a', subject: 's', tenant: 'd', session: 'e', run: 'r' };

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

describe('findIsolated', () => {
  test('finds the values that no line goes through', () => {
    expect(findIsolated([5, null, 1, 2, null, null, 7, undefined, 0])).toEqual([0, 6, 8]);
    expect(findIsolated([3])).toEqual([0]);
    expect(findIsolated([1, 2])).toEqual([]);
  });
});

describe('timeRange', () => {
  test('never reaches beyond the newest value, even if it is the only one', () => {
    expect(timeRange([500_000])).toEqual([440_000, 500_000]);
    expect(timeRange([100_000, 500_000])).toEqual([100_000, 500_000]);
    expect(timeRange([])).toBeUndefined();
  });
});

describe('groupOutcome', () => {
  test('counts every kind of ending once', () => {
    const counts = countGroups(Object.fromEntries(OUTCOME_KINDS.map((kind) => [kind, 1])));
    expect(CHART_GROUPS.reduce((sum, group) => sum + counts[group], 0)).toBe(OUTCOME_KINDS.length);
    expect(counts).toEqual({ ok: 1, failed: 10, refused: 2, stopped: 2, unsure: 1 });
  });

  test('counts as refused what the filter of calls finds as refused', () => {
    const refused = OUTCOME_KINDS.filter((kind) => matchesCall({ ...CALL, outcome: kind }, { outcome: 'refused' }));
    expect(OUTCOME_KINDS.filter((kind) => groupOutcome(kind) === 'refused')).toEqual(refused);
  });

  test('a kind it does not know is none that went well', () => {
    expect(groupOutcome('melted')).toBe('failed');
    expect(groupOutcome('toString')).toBe('failed');
  });
});
