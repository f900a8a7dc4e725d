import type { CallRow } from '../api/call-schema.ts';
import { STATISTICS_LIMITS, type StatisticsView } from '../api/statistics-schema.ts';
import { DurationCounts } from './duration-counts.ts';

const FINE_MS = 10_000;
const FINE_FOR_MS = 60 * 60_000;
const COARSE_MS = 60_000;
const SHOWN_NAMES = 20;
/** Max names per bucket: names come from callers, and there may be any number of them. */
const MAX_NAMES = 500;

interface Share {
  calls: number;
  notOk: number;
  readonly durations: DurationCounts;
}

class Bucket {
  readonly at: number;
  calls = 0;
  warned = 0;
  blocked = 0;
  readonly byOutcome = new Map<string, number>();
  readonly durations = new DurationCounts();
  readonly byTool = new Map<string, Share>();
  readonly byAgent = new Map<string, Share>();

  constructor(at: number) {
    this.at = at;
  }

  add(row: CallRow): void {
    const { outcome = 'unknown', ranMs, detector } = row;
    this.calls += 1;
    this.byOutcome.set(outcome, (this.byOutcome.get(outcome) ?? 0) + 1);
    if (detector !== undefined) this[outcome === 'blocked' ? 'blocked' : 'warned'] += 1;
    if (ranMs !== undefined) this.durations.add(ranMs);
    addShare(this.byTool, row.tool, row);
    addShare(this.byAgent, row.agent, row);
  }

  addAll(other: Bucket): void {
    this.calls += other.calls;
    this.warned += other.warned;
    this.blocked += other.blocked;
    for (const [outcome, count] of other.byOutcome) {
      this.byOutcome.set(outcome, (this.byOutcome.get(outcome) ?? 0) + count);
    }
    this.durations.addAll(other.durations);
    uniteShares(this.byTool, other.byTool);
    uniteShares(this.byAgent, other.byAgent);
  }
}

function addShare(shares: Map<string, Share>, name: string, { outcome, ranMs }: CallRow): void {
  const share = shareOf(shares, name);
  if (share === undefined) return;
  share.calls += 1;
  if (outcome !== 'ok') share.notOk += 1;
  if (ranMs !== undefined) share.durations.add(ranMs);
}

function uniteShares(into: Map<string, Share>, from: ReadonlyMap<string, Share>): void {
  for (const [name, { calls, notOk, durations }] of from) {
    const share = shareOf(into, name);
    if (share === undefined) continue;
    share.calls += calls;
    share.notOk += notOk;
    share.durations.addAll(durations);
  }
}

function shareOf(shares: Map<string, Share>, name: string): Share | undefined {
  let share = shares.get(name);
  if (share === undefined && shares.size < MAX_NAMES) {
    share = { calls: 0, notOk: 0, durations: new DurationCounts() };
    shares.set(name, share);
  }
  return share;
}

/**
 * Counts calls over time by outcome, tool and agent, for one day: the last hour in steps of ten seconds, the rest in steps of one minute.
 */
export class CallStatistics {
  readonly #fine = new Map<number, Bucket>();
  readonly #coarse = new Map<number, Bucket>();
  #countedFrom = 0;

  clear(): void {
    this.#fine.clear();
    this.#coarse.clear();
  }

  /** Sets the moment before which nothing was counted. */
  countedFrom(at: number): void {
    this.#countedFrom = at;
  }

  add(row: CallRow): void {
    const at = row.settledAt!;
    bucketAt(this.#fine, at, FINE_MS).add(row);
    bucketAt(this.#coarse, at, COARSE_MS).add(row);
  }

  /** Drops buckets that are older than any window a caller can request. */
  forget(now: number): void {
    for (const at of this.#fine.keys()) if (at < now - FINE_FOR_MS - FINE_MS) this.#fine.delete(at);
    for (const at of this.#coarse.keys()) {
      if (at < now - STATISTICS_LIMITS.maxWindowMs - COARSE_MS) this.#coarse.delete(at);
    }
  }

  /** Returns the counts of a window that ends now. Its buckets are whole steps, so there may be fewer than `wanted`. */
  show(now: number, windowMs: number, wanted: number): StatisticsView {
    const isFine = windowMs <= FINE_FOR_MS;
    const [source, stepMs] = isFine ? [this.#fine, FINE_MS] : [this.#coarse, COARSE_MS];
    const bucketMs = Math.ceil(windowMs / wanted / stepMs) * stepMs;
    const count = Math.ceil(windowMs / bucketMs);
    const to = (Math.floor(now / bucketMs) + 1) * bucketMs;
    const from = to - count * bucketMs;
    const buckets = Array.from({ length: count }, (_, index) => new Bucket(from + index * bucketMs));
    const totals = new Bucket(from);
    for (const [at, bucket] of source) {
      if (at < from || at >= to) continue;
      buckets[Math.floor((at - from) / bucketMs)]!.addAll(bucket);
      totals.addAll(bucket);
    }
    return {
      from,
      to,
      bucketMs,
      buckets: buckets.map(({ at, ...bucket }) => ({ at, ...showCounts(bucket) })),
      totals: { ...showCounts(totals), byTool: showShares(totals.byTool), byAgent: showShares(totals.byAgent) },
      loops: { warned: totals.warned, blocked: totals.blocked },
      countedFrom: this.#countedFrom,
    };
  }
}

function bucketAt(buckets: Map<number, Bucket>, at: number, stepMs: number): Bucket {
  const start = Math.floor(at / stepMs) * stepMs;
  let bucket = buckets.get(start);
  if (bucket === undefined) {
    bucket = new Bucket(start);
    buckets.set(start, bucket);
  }
  return bucket;
}

function showCounts({ calls, byOutcome, durations }: Pick<Bucket, 'calls' | 'byOutcome' | 'durations'>) {
  return { calls, byOutcome: Object.fromEntries(byOutcome), ...durations.quantiles() };
}

function showShares(shares: ReadonlyMap<string, Share>): StatisticsView['totals']['byTool'] {
  return [...shares]
    .sort(([, one], [, other]) => other.calls - one.calls)
    .slice(0, SHOWN_NAMES)
    .map(([name, { calls, notOk, durations }]) => ({ name, calls, notOk, ...durations.quantiles() }));
}
