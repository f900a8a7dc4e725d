import { matchesCall } from '../../../src/domain/call/call-filter.ts';
import type { Query } from '../api.ts';
import type { CallRow } from '../api-types.ts';

const MINUTE_MS = 60_000;

/** The values of `last` in the address: a time span that always ends now, unlike `from` and `to`. */
export const PERIODS: Readonly<Record<string, { readonly title: string; readonly ms: number }>> = {
  '15m': { title: 'Last 15 minutes', ms: 15 * MINUTE_MS },
  '1h': { title: 'Last hour', ms: 60 * MINUTE_MS },
  '1d': { title: 'Last day', ms: 24 * 60 * MINUTE_MS },
  '7d': { title: 'Last 7 days', ms: 7 * 24 * 60 * MINUTE_MS },
};

/** The value of `last` for a time span with a fixed beginning and end, which are in `from` and `to`. */
export const BETWEEN = 'between';

export const FILTER_NAMES = [
  'text',
  'state',
  'outcome',
  'tool',
  'agent',
  'subject',
  'run',
  'last',
  'from',
  'to',
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
export type CallFilter = Readonly<Partial<Record<FilterName, string>>>;

/** Reads the filter from the page's address, so that a filter can be bookmarked, shared and returned to. */
export function readFilter(query: Readonly<Record<string, string>>): CallFilter {
  const set = FILTER_NAMES.map((name) => [name, query[name]]).filter(
    ([, value]) => value !== undefined && value !== '',
  );
  return Object.fromEntries(set) as CallFilter;
}

export function toQuery({ last, ...filter }: CallFilter, now: number): Query {
  const period = last === undefined || last === BETWEEN ? undefined : PERIODS[last];
  return { ...filter, ...(period === undefined ? {} : { from: Math.round(now - period.ms) }) };
}

/** Whether a call that has just changed belongs in the filtered list. */
export function matchesFilter(call: CallRow, { state, last: _, from, to, ...filter }: CallFilter): boolean {
  const isState = state === undefined || (state === 'live' ? call.state !== 'settled' : state === call.state);
  const moment = (value: string | undefined): number | undefined => (value === undefined ? undefined : Number(value));
  return isState && matchesCall(call, { ...filter, from: moment(from), to: moment(to) });
}

/** The moment that lists are ordered by: when the call settled, else when it was accepted. */
export function momentOf({ settledAt, acceptedAt }: CallRow): number | undefined {
  return settledAt ?? acceptedAt;
}

/** Unsettled calls first, then the newest. */
export function byNewest(one: CallRow, other: CallRow): number {
  const live = Number(one.state === 'settled') - Number(other.state === 'settled');
  return live || (momentOf(other) ?? 0) - (momentOf(one) ?? 0) || (one.callId < other.callId ? 1 : -1);
}
