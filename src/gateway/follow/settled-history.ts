import type { AuditRecord } from '../../domain/audit/audit-record.ts';
import type { TrailRecords } from '../../domain/ports/audit-store.ts';
import type { CallRow } from '../api/call-schema.ts';
import type { LoopView } from '../api/statistics-schema.ts';
import { CallStatistics } from './call-statistics.ts';
import { isEnding } from './call-rows.ts';
import { SettledCalls } from './settled-calls.ts';
import { TrailFollower, type TrailListener } from './trail-follower.ts';

const HISTORY_LIMITS = Object.freeze({ calls: 100_000, loops: 500 });

export interface HistorySettings {
  /** How many settled calls are kept in memory. */
  readonly calls?: number;
}

/**
 * What the gateway remembers of settled calls: the latest calls, the statistics, and the latest calls that were warned or blocked for a
 * loop.
 */
export class SettledHistory implements TrailListener {
  readonly calls: SettledCalls;
  readonly statistics = new CallStatistics();
  readonly #follower: TrailFollower;
  readonly #loops: LoopView[] = [];
  readonly #listeners = new Set<(row: CallRow) => void>();
  #firstAt: number | undefined = undefined;
  #isReady = false;

  constructor(trail: TrailRecords, settings: HistorySettings = {}) {
    const max = settings.calls ?? HISTORY_LIMITS.calls;
    this.calls = new SettledCalls(max);
    this.#follower = new TrailFollower(trail, this, { max });
  }

  /** Whether the first `catchUp` has finished, so that the calls and statistics are up to date. */
  get isReady(): boolean {
    return this.#isReady;
  }

  async catchUp(): Promise<void> {
    await this.#follower.catchUp();
    this.calls.loaded(this.#follower.isWhole);
    this.statistics.countedFrom(this.#follower.isWhole ? 0 : (this.#firstAt ?? 0));
    this.#isReady = true;
  }

  /** The latest calls that were warned or blocked for a loop, newest first. */
  loops(limit: number): LoopView[] {
    return this.#loops.slice(-limit).toReversed();
  }

  /**
   * Calls the listener for every call that ends from now on, but not for calls that the first `catchUp` reads. Returns a function that
   * stops it.
   */
  listen(listener: (row: CallRow) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  added(record: AuditRecord): void {
    this.#firstAt ??= record.at;
    if (!isEnding(record)) return;
    const row = this.calls.add(record);
    this.statistics.add(row);
    if (row.detector !== undefined) this.#addLoop(row, row.detector);
    if (this.#isReady) for (const listener of this.#listeners) listener(row);
  }

  skipped(): void {
    this.calls.clear();
    this.statistics.clear();
    this.#firstAt = undefined;
    this.#isReady = false;
  }

  #addLoop({ settledAt, callId, agent, tool, run, outcome }: CallRow, detector: string): void {
    const kind = outcome === 'blocked' ? 'blocked' : 'warned';
    this.#loops.push({ at: settledAt!, callId, agent, tool, run, detector, kind });
    if (this.#loops.length > HISTORY_LIMITS.loops * 2) this.#loops.splice(0, HISTORY_LIMITS.loops);
  }
}
