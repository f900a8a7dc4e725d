import { describe, expect, test } from 'vitest';
import {
  queueSpec,
  summariseLatency,
  summariseQueues,
  summariseThroughput,
  throughputSpec,
} from './describe-statistics.ts';
import type { Statistics } from './fleet-types.ts';

const empty: Statistics = {
  from: 0,
  to: 120_000,
  bucketMs: 60_000,
  buckets: [
    { at: 0, calls: 0, byOutcome: {} },
    { at: 60_000, calls: 0, byOutcome: {} },
  ],
  totals: { calls: 0, byOutcome: {}, byTool: [], byAgent: [] },
  loops: { warned: 0, blocked: 0 },
  countedFrom: 0,
};
const busy: Statistics = {
  ...empty,
  buckets: [
    { at: 0, calls: 3, byOutcome: { ok: 2, denied: 1 }, p50: 4, p90: 9, p99: 9 },
    { at: 60_000, calls: 4, byOutcome: { ok: 3, 'timed-out': 1 }, p50: 5, p90: 2000, p99: 2000 },
  ],
  totals: {
    calls: 7,
    byOutcome: { ok: 5, denied: 1, 'timed-out': 1 },
    p50: 5,
    p90: 2000,
    p99: 2000,
    byTool: [],
    byAgent: [],
  },
};

describe('the text beside a chart', () => {
  test('says how many calls ended and how', () => {
    expect(summariseThroughput(busy)).toBe('7 calls ended: 5 ok, 1 failed, 1 refused. At most 4 in 1 min.');
    expect(summariseThroughput(empty)).toBe('No call has ended in this time.');
  });

  test('says how long they took', () => {
    expect(summariseLatency(busy)).toBe('Half of the calls ended within 5 ms, 90 % within 2.0 s, 99 % within 2.0 s.');
    expect(summariseLatency(empty)).toBe('No call has ended in this time.');
  });

  test('says what waits and what waited most', () => {
    const samples = [
      { at: 1, queued: { default: 9 } },
      { at: 2, queued: { default: 2, gpu: 1 } },
    ];
    expect(summariseQueues(samples)).toBe(
      'default: 2 now, at most 9; gpu: 1 now, at most 1. Read since the console was opened.',
    );
    expect(queueSpec(samples).series.map(({ values }) => values)).toEqual([
      [9, 2],
      [0, 1],
    ]);
  });
});

describe('throughputSpec', () => {
  test('has one value per bucket and group', () => {
    const { times, series } = throughputSpec(busy);
    expect(times).toEqual([0, 60_000]);
    expect(series.map(({ tone, values }) => [tone, values])).toEqual([
      ['ok', [2, 3]],
      ['failed', [0, 1]],
      ['refused', [1, 0]],
      ['stopped', [0, 0]],
      ['unsure', [0, 0]],
    ]);
  });
});
