import type { VNode } from 'preact';
import { api, withQuery } from '../api.ts';
import type { CallRow, Page } from '../api-types.ts';
import { useAtMostEvery } from '../use-at-most-every.ts';
import { useLive } from '../use-live.ts';
import { useResource } from '../use-resource.ts';
import { CallTable } from './call-table.tsx';

const SHOWN = 20;
const READ_EVERY_MS = 2000;

/** The other calls of a run, newest first, with a link to all of them. */
export function RunCalls({ call: { callId, run } }: { readonly call: CallRow }): VNode {
  const page = useResource(
    (signal) => api.get<Page<CallRow>>('/v1/calls', { query: { run, limit: SHOWN + 1 }, signal }),
    [run],
  );
  const read = useAtMostEvery(READ_EVERY_MS, page.reload);
  useLive('calls', {
    onEvent: (data) => {
      if ((data as CallRow).run === run) read();
    },
    onResync: read,
  });
  const others = page.data?.items.filter((other) => other.callId !== callId).slice(0, SHOWN) ?? [];
  return (
    <>
      {others.length === 0 ? (
        <p class="hint">{page.data === undefined ? 'Reading the run …' : 'It is the only call of its run.'}</p>
      ) : (
        <CallTable calls={others} caption="Other calls of this run" />
      )}
      {others.length === 0 ? null : (
        <p>
          <a href={withQuery('/console/calls', { run })}>All calls of this run</a>
        </p>
      )}
    </>
  );
}
