import { matchesCall, type CallFilter } from '../../domain/call/call-filter.ts';
import type { CallRecord } from '../../domain/call/call.ts';
import type { TrailPlace } from '../../domain/ports/audit-store.ts';
import { rowOfCall } from '../follow/call-rows.ts';
import { readSettled } from '../follow/read-settled.ts';
import type { PlacedRow } from '../follow/settled-calls.ts';
import type { ApiNeeds } from './api-route.ts';
import type { CallListQuery, CallPage, CallRow } from './call-schema.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { PAGE_LIMITS } from './page-schema.ts';

/**
 * How many live calls are read first. All live calls must be read, because they are sorted here; if there are more, ten times as many are
 * read.
 */
const LIVE_READ = 1000;
/** Max live calls in the list; more are left out. */
const MAX_LIVE = 10_000;

type Needs = Pick<ApiNeeds, 'history'> & { readonly plane: Pick<ApiNeeds['plane'], 'store' | 'trail'> };

/** Lists the live calls, last accepted first, and then the settled calls, last settled first. */
export async function listCalls(needs: Needs, query: CallListQuery): Promise<CallPage> {
  const { limit = PAGE_LIMITS.usual, cursor, ...filters } = query;
  const { state, ...filter } = filters;
  const place = cursor === undefined ? undefined : readCursor('calls', filters, cursor);
  const items: CallRow[] = [];
  const next = (...to: (string | number)[]): CallPage => ({ items, next: writeCursor('calls', filters, to) });
  if (state !== 'settled' && place?.[0] !== 'settled') {
    const live = await listLive(needs, filters, place);
    items.push(...live.slice(0, limit));
    const last = items.at(-1);
    if (live.length > limit) return next('live', last!.acceptedAt!, last!.callId);
  }
  if (state !== undefined && state !== 'settled') return { items };
  if (items.length === limit) return next('settled');
  const page = await listSettled(needs, filter, toPlace(place), limit - items.length);
  items.push(...page.rows.map(({ row }) => row));
  if (page.next === undefined) return { items };
  const { at, store, lane, sequence } = page.next;
  return next('settled', at, store, lane, sequence);
}

type Place = readonly (string | number)[];

function toPlace(place: Place | undefined): TrailPlace | undefined {
  if (place?.[0] !== 'settled' || place.length !== 5) return undefined;
  const [, at, store, lane, sequence] = place as ['settled', number, string, number, number];
  return { at, store, lane, sequence };
}

async function listLive(
  { plane }: Needs,
  { state, outcome, ...filter }: CallFilter & { readonly state?: string | undefined },
  after: Place | undefined,
): Promise<CallRow[]> {
  if (outcome !== undefined) return [];
  const calls = await readLive(plane.store);
  const rows = calls.map(rowOfCall).filter((row) => {
    const isWanted = state === undefined || state === 'live' || row.state === state;
    return isWanted && matchesCall(row, filter);
  });
  rows.sort(byAge);
  if (after?.[0] !== 'live') return rows;
  const last = { acceptedAt: Number(after[1]), callId: String(after[2]) };
  return rows.filter((row) => byAge(row, last) > 0);
}

async function readLive(store: Needs['plane']['store']): Promise<CallRecord[]> {
  const calls = await store.listCalls({ limit: LIVE_READ });
  return calls.length < LIVE_READ ? calls : store.listCalls({ limit: MAX_LIVE });
}

/** Orders calls by acceptance, the latest first. The id only makes the order unique. */
function byAge(one: Pick<CallRow, 'acceptedAt' | 'callId'>, other: Pick<CallRow, 'acceptedAt' | 'callId'>): number {
  return other.acceptedAt! - one.acceptedAt! || (one.callId < other.callId ? -1 : one.callId === other.callId ? 0 : 1);
}

interface SettledPage {
  readonly rows: readonly PlacedRow[];
  readonly next?: TrailPlace;
}

/** Lists settled calls from memory as far back as it reaches, then from the trail. */
async function listSettled(
  { history, plane }: Needs,
  filter: CallFilter,
  before: TrailPlace | undefined,
  limit: number,
): Promise<SettledPage> {
  const catchingUp = history.catchUp();
  // The first `catchUp` reads everything that is kept in memory, which takes a while. Requests do not wait for it, and read the trail
  // instead.
  if (history.isReady) await catchingUp;
  else catchingUp.catch(() => undefined);
  const { wholeFrom } = history.calls;
  const begins = before?.at ?? Number.POSITIVE_INFINITY;
  if (!history.isReady || wholeFrom === undefined || begins < wholeFrom) {
    return readSettled(plane.trail, filter, before, limit);
  }
  const rows = history.calls.find(filter, before, limit + 1);
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]!.place };
  if (wholeFrom === 0 || (filter.from ?? 0) >= wholeFrom) return { rows };
  if (rows.length === limit) return { rows, next: rows.at(-1)!.place };
  // Memory has every call from `wholeFrom` on, and these were listed above. So the trail is read from the millisecond before `wholeFrom`.
  const edge = { at: wholeFrom - 1, store: '', lane: 0, sequence: Number.MAX_SAFE_INTEGER };
  const older = await readSettled(plane.trail, filter, edge, limit - rows.length);
  return { ...older, rows: [...rows, ...older.rows] };
}
