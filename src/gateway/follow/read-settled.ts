import { matchesCall, type CallFilter } from '../../domain/call-filter.ts';
import { OUTCOME_KINDS } from '../../domain/outcome.ts';
import type { AuditTrail, TrailPlace } from '../../ports/audit-store.ts';
import { parseRecord } from '../../wire/audit-record.ts';
import { isEnding, rowOfRecord } from './call-rows.ts';
import { comparePlaces, type PlacedRow } from './settled-calls.ts';

/** One read of the trail looks at so many records, so that others get their turn in between. */
const SCAN = 5_000;
const MAX_READS = 4;
/** Beyond the page: the calls of its last millisecond must all be there to be put in order. */
const MORE = 50;

export interface SettledPage {
  readonly rows: readonly PlacedRow[];
  /** Absent: there is nothing behind it. A page may be short, or empty, and still have one. */
  readonly next?: TrailPlace;
}

/**
 * Settled calls from the trail itself, for those that are no longer in memory. The trail orders the lanes of one millisecond in its own
 * way, so a page begins with the millisecond where the last one ended, and leaves out what that has shown.
 */
export async function readSettled(
  trail: Pick<AuditTrail, 'queryTrail'>,
  filter: CallFilter,
  before: TrailPlace | undefined,
  limit: number,
): Promise<SettledPage> {
  const { to = Number.POSITIVE_INFINITY, from, tool, agent, subject, tenant, outcome } = filter;
  const end = before === undefined ? to : Math.min(to, before.at + 1);
  // The trail knows fewer filters; what it gives is filtered again below.
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
    // Within one millisecond nothing could be gone on from: it is read to its end, however long it is.
    const mayStop = reads + 1 >= MAX_READS && place.at !== (before?.at ?? -1);
    if (isComplete || mayStop) return cut(rows, limit, place.at);
  }
}

/** `readFrom`: of this millisecond, not everything was read. */
function cut(rows: readonly PlacedRow[], limit: number, readFrom: number | undefined): SettledPage {
  const whole = rows.filter(({ place }) => readFrom === undefined || place.at > readFrom).toSorted(byPlace);
  const shown = whole.slice(0, limit);
  if (whole.length > limit) return { rows: shown, next: shown.at(-1)!.place };
  if (readFrom === undefined) return { rows: shown };
  // Before everything of that millisecond.
  return { rows: shown, next: { at: readFrom, store: '', lane: 0, sequence: Number.MAX_SAFE_INTEGER } };
}

function byPlace(one: PlacedRow, other: PlacedRow): number {
  return comparePlaces(one.place, other.place);
}

function defined<Value extends object>(value: Value): { [Name in keyof Value]: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;
}
