import type { Query } from '../api.ts';
import type { CallRow } from '../api-types.ts';

const MINUTE_MS = 60_000;

/** `last` in the address: a time that moves along, unlike `from` and `to`. */
export const PERIODS: Readonly<Record<string, { readonly title: string; readonly ms: number }>> = {
  '15m': { title: 'Last 15 minutes', ms: 15 * MINUTE_MS },
  '1h': { title: 'Last hour', ms: 60 * MINUTE_MS },
  '1d': { title: 'Last day', ms: 24 * 60 * MINUTE_MS },
  '7d': { title: 'Last 7 days', ms: 7 * 24 * 60 * MINUTE_MS },
};

/** Beside the periods: from one moment to another. */
export const BETWEEN = 'between';

export const FILTER_NAMES = ['state', 'outcome', 'tool', 'agent', 'subject', 'last', 'from', 'to'] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
export type CallFilter = Readonly<Partial<Record<FilterName, string>>>;

/** The filter is the page's address, so that it can be kept, shared and gone back to. */
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

/** Whether a call that was just told of belongs into the filtered list. */
export function matchesFilter(call: CallRow, filter: CallFilter): boolean {
  const is = (wanted: string | undefined, actual: string | undefined): boolean =>
    wanted === undefined || wanted === actual;
  return (
    (filter.state === 'live' ? call.state !== 'settled' : is(filter.state, call.state)) &&
    (filter.outcome === 'not-ok'
      ? call.outcome !== undefined && call.outcome !== 'ok'
      : is(filter.outcome, call.outcome)) &&
    is(filter.tool, call.tool) &&
    is(filter.agent, call.agent) &&
    is(filter.subject, call.subject) &&
    (filter.to === undefined || (momentOf(call) ?? 0) <= Number(filter.to)) &&
    (filter.from === undefined || (momentOf(call) ?? 0) >= Number(filter.from))
  );
}

/** When it last changed hands: what lists are ordered by. */
export function momentOf({ settledAt, acceptedAt }: CallRow): number | undefined {
  return settledAt ?? acceptedAt;
}

/** Unsettled calls first, then the newest. */
export function byNewest(one: CallRow, other: CallRow): number {
  const live = Number(one.state === 'settled') - Number(other.state === 'settled');
  return live || (momentOf(other) ?? 0) - (momentOf(one) ?? 0) || (one.callId < other.callId ? 1 : -1);
}
