import type { AboutCall, AuditRecord } from '../../domain/audit/audit-record.ts';
import { matchesCall, type CallFilter } from '../../domain/call/call-filter.ts';
import type { TrailPlace } from '../../domain/ports/audit-store.ts';
import type { CallRow } from '../api/call-schema.ts';
import { rowOfRecord } from './call-rows.ts';

export interface PlacedRow {
  readonly row: CallRow;
  readonly place: TrailPlace;
}

interface Lane {
  readonly store: string;
  readonly lane: number;
  /** Oldest first. */
  readonly rows: CallRow[];
  readonly sequences: number[];
}

/**
 * The one order of settled calls: newest first. Within a millisecond they are ordered by store, then by lane, then the later record first.
 */
export function comparePlaces(one: TrailPlace, other: TrailPlace): number {
  if (one.at !== other.at) return other.at - one.at;
  if (one.store !== other.store) return one.store < other.store ? -1 : 1;
  return one.lane - other.lane || other.sequence - one.sequence;
}

/**
 * The latest settled calls, in memory. A trail has no index by tool, agent or outcome, because keeping one up to date would slow down every
 * call. Here a filter over a hundred thousand calls takes a few milliseconds.
 */
export class SettledCalls {
  readonly #max: number;
  readonly #lanes = new Map<string, Lane>();
  /** The texts in the rows, each once: rows with an equal text share one string in memory. */
  readonly #texts = new Map<string, string>();
  #count = 0;
  #wholeFrom: number | undefined = undefined;
  /** Some of the calls before this moment were dropped. */
  #droppedUpTo = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** All calls that settled at or after this moment are in memory. Undefined: nothing is known yet. */
  get wholeFrom(): number | undefined {
    return this.#wholeFrom;
  }

  get size(): number {
    return this.#count;
  }

  clear(): void {
    this.#lanes.clear();
    this.#texts.clear();
    this.#count = 0;
    this.#droppedUpTo = 0;
    this.#wholeFrom = undefined;
  }

  /** Call this after all records up to now were added. `isAll`: none was left out, from the very first record of each lane on. */
  loaded(isAll: boolean): void {
    if (this.#wholeFrom !== undefined) return;
    this.#wholeFrom = Math.max(this.#droppedUpTo, isAll ? 0 : this.#firstWholeMoment());
  }

  add(record: AboutCall<AuditRecord>): CallRow {
    const row = this.#shareTexts(rowOfRecord(record));
    const key = `${record.store}/${record.lane}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { store: record.store, lane: record.lane, rows: [], sequences: [] };
      this.#lanes.set(key, lane);
    }
    lane.rows.push(row);
    lane.sequences.push(record.sequence);
    this.#count += 1;
    // Drop a tenth at a time: moving all remaining rows for each dropped row would cost more than everything else.
    if (this.#count > this.#max * 1.1) this.#dropOldest();
    return row;
  }

  /** Finds up to `limit` calls that follow the place `before` in the list, which are older ones. Goes back only to `wholeFrom`. */
  find(filter: CallFilter, before: TrailPlace | undefined, limit: number): PlacedRow[] {
    const from = Math.max(filter.from ?? 0, this.#wholeFrom ?? Number.POSITIVE_INFINITY);
    const bounded = { ...filter, from };
    const readers = [...this.#lanes.values()].map((lane) => new LaneReader(lane, bounded, before));
    const found: PlacedRow[] = [];
    while (found.length < limit) {
      let next: LaneReader | undefined;
      for (const reader of readers) {
        if (reader.place === undefined) continue;
        if (next === undefined || comparePlaces(reader.place, next.place!) < 0) next = reader;
      }
      if (next === undefined) return found;
      found.push({ row: next.row, place: next.place! });
      next.advance();
    }
    return found;
  }

  #dropOldest(): void {
    const moments = [...this.#lanes.values()].flatMap(({ rows }) => rows.map(({ settledAt }) => settledAt!));
    moments.sort((one, other) => one - other);
    const cut = moments[this.#count - this.#max]!;
    for (const { rows, sequences } of this.#lanes.values()) {
      const index = rows.findIndex(({ settledAt }) => settledAt! > cut);
      const gone = index < 0 ? rows.length : index;
      rows.splice(0, gone);
      sequences.splice(0, gone);
      this.#count -= gone;
    }
    this.#texts.clear();
    this.#droppedUpTo = cut + 1;
    if (this.#wholeFrom !== undefined) this.#wholeFrom = cut + 1;
  }

  #firstWholeMoment(): number {
    const firsts = [...this.#lanes.values()].map(({ rows }) => rows[0]?.settledAt ?? 0);
    return firsts.length === 0 ? 0 : Math.max(...firsts) + 1;
  }

  #shareTexts(row: CallRow): CallRow {
    const shared = row as Record<string, unknown>;
    for (const name of ['tool', 'agent', 'subject', 'tenant', 'session', 'run', 'code', 'rule'] as const) {
      const text = row[name];
      if (text === undefined) continue;
      const known = this.#texts.get(text);
      if (known === undefined) this.#texts.set(text, text);
      else shared[name] = known;
    }
    return row;
  }
}

/** Walks one lane from its newest row to its oldest. */
class LaneReader {
  readonly #lane: Lane;
  readonly #filter: CallFilter;
  #index: number;
  place: TrailPlace | undefined = undefined;

  constructor(lane: Lane, filter: CallFilter, before: TrailPlace | undefined) {
    this.#lane = lane;
    this.#filter = filter;
    this.#index = lane.rows.length;
    do this.advance();
    while (before !== undefined && this.place !== undefined && comparePlaces(this.place, before) <= 0);
  }

  get row(): CallRow {
    return this.#lane.rows[this.#index]!;
  }

  advance(): void {
    const { store, lane, rows, sequences } = this.#lane;
    this.place = undefined;
    while (--this.#index >= 0) {
      const row = rows[this.#index]!;
      if (!matchesCall(row, this.#filter)) continue;
      this.place = { at: row.settledAt!, store, lane, sequence: sequences[this.#index]! };
      return;
    }
  }
}
