import { matchesCall, type CallFilter } from '../../domain/call/call-filter.ts';
import { OUTCOME_KINDS } from '../../domain/outcome/outcome.ts';
import type { TrailQuery, TrailPlace } from '../../domain/ports/audit-store.ts';
import { parseRecord } from '../../domain/audit/record-bytes.ts';
import { isEnding, rowOfRecord } from './call-rows.ts';
import { comparePlaces, type PlacedRow } from './settled-calls.ts';

/** Max records that one read of the trail looks at, so that other work gets its turn in between. */
const SCAN = 5_000;
const MAX_READS = 4;
/** Records to read in addition to the page. The calls of the last millisecond of the page are sorted here, so all of them are needed. */
const MORE = 50;

export interface SettledPage {
  readonly rows: readonly PlacedRow[];
  /** Absent if there are no older calls. A page may be short or empty and still have a next one. */
  readonly next?: TrailPlace;
}

/**
 * Reads settled calls from the trail itself, for calls that are no longer in memory. Within one millisecond, the trail may order the lanes
 * differently from this list. So each page reads the millisecond in which the previous page ended again, and leaves out the calls that were
 * already shown.
 */
export async function readSettled(
  trail: TrailQuery,
  filter: CallFilter,
  before: TrailPlace | undefined,
  limit: number,
): Promise<SettledPage> {
  const { to = Number.POSITIVE_INFINITY, from, tool, agent, subject, tenant, outcome } = filter;
  const end = before === undefined ? to : Math.min(to, before.at + 1);
  // The trail supports fewer filters; its result is filtered again below.
  const isKind = OUTCOME_KINDS.some((kind) => kind === outcome);
  const known = { from, tool, agent, subject, tenant, outcome: outcome === undefined || isKind ? outcome : 'not-ok' };
  const query = { ...defined(known), ...(Number.isFinite(end) ? { to: end } : {}) };
  const rows: PlacedRow[] = [];
  let place: TrailPlace | undefined;
  for (let reads = 0; ; reads += 1) {
    const page = await trail.queryTrail({
      filter: query,
      limit: limit + MORE,
      scan: SCAN,
      ...(place === undefined ? {} : { before: place }),
    });
    for (const { text } of page.records) {
      const record = parseRecord(text);
      if (record === undefined || !isEnding(record)) continue;
      const { at, store, lane, sequence } = record;
      const own = { at, store, lane, sequence };
      const row = rowOfRecord(record);
      if (!matchesCall(row, filter)) continue;
      if (before === undefined || comparePlaces(own, before) > 0) rows.push({ row, place: own });
    }
    place = page.next;
    if (place === undefined) return cut(rows, limit, undefined);
    const isComplete = rows.length > limit && place.at < rows.toSorted(byPlace)[limit - 1]!.place.at;
    // The next page cannot begin in the middle of a millisecond, so a millisecond is read to its end, however many records it has.
    const mayStop = reads + 1 >= MAX_READS && place.at !== (before?.at ?? -1);
    if (isComplete || mayStop) return cut(rows, limit, place.at);
  }
}

/** Makes a page of the rows. Leaves out those of `readFrom`, the millisecond that was not read completely. */
function cut(rows: readonly PlacedRow[], limit: number, readFrom: number | undefined): SettledPage {
  const whole = rows.filter(({ place }) => readFrom === undefined || place.at > readFrom).toSorted(byPlace);
  const shown = whole.slice(0, limit);
  if (whole.length > limit) return { rows: shown, next: shown.at(-1)!.place };
  if (readFrom === undefined) return { rows: shown };
  // The next page begins with this millisecond: the place comes before all its records in the order of the list.
  return { rows: shown, next: { at: readFrom, store: '', lane: 0, sequence: Number.MAX_SAFE_INTEGER } };
}

function byPlace(one: PlacedRow, other: PlacedRow): number {
  return comparePlaces(one.place, other.place);
}

function defined<Value extends object>(value: Value): { [Name in keyof Value]: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;
}
