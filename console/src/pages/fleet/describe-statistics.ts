import type { ChartSpec } from '../../charts/chart-spec.ts';
import { countGroups, GROUP_TITLES, CHART_GROUPS } from '../../charts/outcome-groups.ts';
import { showDuration } from '../../show-time.ts';
import type { Statistics } from './fleet-types.ts';
import type { QueueSample } from './queue-history.ts';

export const showCount = (count: number): string => new Intl.NumberFormat().format(count);

/** Describes the calls of a pool that no worker has taken, for example `1 waiting, 2 behind earlier calls of their subject`. */
export function describeWaiting(queued: number, backlog: number): string {
  return `${showCount(queued)} waiting${backlog === 0 ? '' : `, ${showCount(backlog)} behind earlier calls of their subject`}`;
}

/** A count with its noun: `1 hook`, `2 hooks`. */
export function countOf(count: number, what: string): string {
  return `${showCount(count)} ${what}${count === 1 ? '' : 's'}`;
}

export function throughputSpec({ buckets }: Statistics): ChartSpec {
  const counts = buckets.map(({ byOutcome }) => countGroups(byOutcome));
  return {
    kind: 'stack',
    times: buckets.map(({ at }) => at),
    series: CHART_GROUPS.map((group) => ({
      label: GROUP_TITLES[group],
      tone: group,
      values: counts.map((count) => count[group]),
    })),
    format: showCount,
  };
}

export function latencySpec({ buckets }: Statistics): ChartSpec {
  return {
    kind: 'lines',
    times: buckets.map(({ at }) => at),
    series: (['p50', 'p90', 'p99'] as const).map((name) => ({
      label: name,
      tone: name,
      values: buckets.map((bucket) => bucket[name] ?? null),
    })),
    format: showDuration,
  };
}

export function summariseThroughput({ buckets, totals, bucketMs }: Statistics): string {
  const counts = countGroups(totals.byOutcome);
  const all = CHART_GROUPS.reduce((sum, group) => sum + counts[group], 0);
  if (all === 0) return 'No call has ended in this time.';
  const busiest = Math.max(...buckets.map(({ calls }) => calls));
  const parts = CHART_GROUPS.filter((group) => counts[group] > 0).map(
    (group) => `${showCount(counts[group])} ${GROUP_TITLES[group]}`,
  );
  return `${showCount(all)} calls ended: ${parts.join(', ')}. At most ${showCount(busiest)} in ${showDuration(bucketMs)}.`;
}

export function summariseLatency({ totals: { p50, p90, p99 } }: Statistics): string {
  if (p50 === undefined) return 'No call has ended in this time.';
  const slow = [p90, p99].map((value) => (value === undefined ? '–' : showDuration(value)));
  return `Half of the calls ended within ${showDuration(p50)}, 90 % within ${slow[0]}, 99 % within ${slow[1]}.`;
}

/** The number of colours for pools. A pool gets its colour by its position in the list. */
const POOL_TONES = 6;

export function queueSpec(samples: readonly QueueSample[]): ChartSpec {
  const pools = poolsOf(samples);
  return {
    kind: 'lines',
    times: samples.map(({ at }) => at),
    series: pools.map((pool, index) => ({
      label: pool,
      tone: `pool-${index % POOL_TONES}`,
      values: samples.map(({ queued }) => queued[pool] ?? 0),
    })),
    format: showCount,
  };
}

export function summariseQueues(samples: readonly QueueSample[]): string {
  const last = samples.at(-1);
  const pools = poolsOf(samples);
  if (last === undefined || pools.length === 0) return 'No pool has a queue yet.';
  const parts = pools.map((pool) => {
    const max = Math.max(...samples.map(({ queued }) => queued[pool] ?? 0));
    return `${pool}: ${showCount(last.queued[pool] ?? 0)} now, at most ${showCount(max)}`;
  });
  return `${parts.join('; ')}. Read since the console was opened.`;
}

function poolsOf(samples: readonly QueueSample[]): string[] {
  return [...new Set(samples.flatMap(({ queued }) => Object.keys(queued)))].sort();
}
