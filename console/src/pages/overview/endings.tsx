import type { VNode } from 'preact';
import type { CallRow } from '../../api-types.ts';
import { callPath, CallBadge } from '../../calls/call-table.tsx';
import { Inert, ShortId } from '../../components/inert.tsx';
import { Ago } from '../../components/time.tsx';

/** The latest calls with one kind of ending, in two lines each. */
export function Endings({ calls, none }: { readonly calls: readonly CallRow[]; readonly none: string }): VNode {
  if (calls.length === 0) return <p class="hint">{none}</p>;
  return (
    <ul class="overview-list">
      {calls.map((call) => (
        <li key={call.callId}>
          <a class="mono" href={callPath(call.callId)}>
            <Inert text={call.tool} />
          </a>
          <CallBadge call={call} />
          <span class="hint">
            {call.code === undefined ? null : (
              <>
                <span class="mono">
                  <Inert text={call.code} />
                </span>
                ,{' '}
              </>
            )}
            <Inert text={`${call.agent} for ${call.subject}`} />,{' '}
            {call.settledAt === undefined ? null : <Ago at={call.settledAt} />} <ShortId text={call.callId} />
          </span>
        </li>
      ))}
    </ul>
  );
}
