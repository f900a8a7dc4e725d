import { useEffect, useRef } from 'preact/hooks';
import { api } from '../api.ts';
import type { CallRow, Page } from '../api-types.ts';
import { now } from '../clock.ts';
import { useLive } from '../use-live.ts';
import { useResource, type Resource } from '../use-resource.ts';
import { byNewest, matchesFilter, toQuery, type CallFilter } from './call-filter.ts';

const PAGE = 100;
/** Max rows on a page, however many calls there are. */
const MAX_ROWS = 150;
/** How often the page is updated, even if there are thousands of events a second. */
const SHOWN_EVERY_MS = 200;

/** Reads one page of calls. The newest page follows live events unless it is paused; older pages do not change. */
export function useCalls(filter: CallFilter, cursor: string | undefined, isPaused: boolean): Resource<Page<CallRow>> {
  const page = useResource(
    (signal) => {
      const query = { ...toQuery(filter, now.peek()), limit: PAGE, cursor };
      return api.get<Page<CallRow>>('/v1/calls', { query, signal });
    },
    [JSON.stringify(filter), cursor],
  );
  const isLive = cursor === undefined && !isPaused;
  const waiting = useRef(new Map<string, CallRow>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const flush = (): void => {
    timer.current = undefined;
    const fresh = waiting.current;
    waiting.current = new Map();
    page.change(({ items, ...rest }) => ({ ...rest, items: merge(items, fresh, filter) }));
  };
  const latestFlush = useRef(flush);
  latestFlush.current = flush;
  useLive('calls', {
    onEvent: (data) => {
      if (!isLive) return;
      const call = data as CallRow;
      waiting.current.set(call.callId, call);
      timer.current ??= setTimeout(() => latestFlush.current(), SHOWN_EVERY_MS);
    },
    onResync: () => {
      if (isLive) page.reload();
    },
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const wasPaused = useRef(isPaused);
  useEffect(() => {
    if (wasPaused.current && !isPaused) page.reload();
    wasPaused.current = isPaused;
  }, [isPaused]);
  return page;
}

function merge(items: readonly CallRow[], fresh: ReadonlyMap<string, CallRow>, filter: CallFilter): readonly CallRow[] {
  const kept = items.filter(({ callId }) => !fresh.has(callId));
  const known = new Map(items.map((item) => [item.callId, item]));
  const added = [...fresh.values()]
    // An event may lack facts that the list has, for example when the call was accepted.
    .map((call) => ({ ...known.get(call.callId), ...call }))
    .filter((call) => matchesFilter(call, filter));
  return [...kept, ...added].toSorted(byNewest).slice(0, MAX_ROWS);
}
