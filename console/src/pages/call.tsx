import type { ComponentChildren, VNode } from 'preact';
import { useRoute } from 'preact-iso';
import { api, apiPath } from '../api.ts';
import type { CallDetail, CallRow } from '../api-types.ts';
import { CallActions } from '../calls/call-actions.tsx';
import { CallFacts, CallHistory, CallIds, Verdicts } from '../calls/call-parts.tsx';
import { CallBadge, CallTable } from '../calls/call-table.tsx';
import { CopiedBlock, FileLink, Outcome, ReasonBlock } from '../calls/outcome.tsx';
import { RunCalls } from '../calls/run-calls.tsx';
import { reasonOf } from '../calls/say-once.ts';
import { Timeline } from '../calls/timeline.tsx';
import { Inert } from '../components/inert.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Failure, Loading } from '../components/states.tsx';
import { layOutJson } from '../lay-out-json.ts';
import { useEvery } from '../use-every.ts';
import { useLive } from '../use-live.ts';
import { useResource } from '../use-resource.ts';
import '../styles/calls.css';

const LOOK_EVERY_MS = 5000;

/** One call, from its acceptance to its reply. */
export function Call(): VNode {
  const id = useRoute().params['id'] ?? '';
  const one = useResource((signal) => api.get<CallDetail>(apiPath`/v1/calls/${id}`, { signal }), [id]);
  useLive('calls', {
    onEvent: (data) => {
      if ((data as CallRow).callId === id) one.reload();
    },
    onResync: one.reload,
  });
  // There is no event when a worker takes a call from the queue.
  useEvery(LOOK_EVERY_MS, () => {
    if (one.data?.call.state === 'queued') one.reload();
  });
  if (one.data?.call.callId !== id) {
    return one.error === undefined ? <Loading /> : <Failure error={one.error} onRetry={one.reload} />;
  }
  return <Detail detail={one.data} onChange={one.reload} />;
}

function Detail({ detail, onChange }: { readonly detail: CallDetail; readonly onChange: () => void }): VNode {
  const { call, outcome } = detail;
  const reason = reasonOf(detail);
  const advice = adviceOf(outcome);
  const shown = [reason?.message, advice].filter((sentence) => sentence !== undefined);
  const reasons = detail.verdict.flatMap((part) => part.reason ?? []);
  return (
    <>
      <a class="back" href="/console/calls">
        All calls
      </a>
      <PageHead
        title={
          <>
            <span class="mono">
              <Inert text={call.tool} />
            </span>{' '}
            <CallBadge call={call} />
          </>
        }
      >
        <CallActions detail={detail} onDone={onChange} />
      </PageHead>
      {reason === undefined ? null : <ReasonBlock reason={reason} />}
      {advice === undefined ? null : (
        <div class="call-advice card" role="note" aria-label="Advice for the agent">
          <strong>Advice for the agent</strong>
          <p class="prose">
            <Inert text={advice} multiline />
          </p>
        </div>
      )}
      <Part title="Stages">
        <Timeline state={call.state} stages={detail.stages} />
      </Part>
      <div class="call-columns">
        <Part title="Verdict">
          <Verdicts detail={detail} shown={shown} />
        </Part>
        <Part title="Call">
          <CallFacts detail={detail} />
        </Part>
      </div>
      {call.arguments === undefined ? null : (
        <Part title="Arguments">
          <CopiedBlock label="Arguments" text={layOutJson(call.arguments)} what="arguments" />
        </Part>
      )}
      {outcome === undefined ? null : (
        <Part title="Output">
          <Outcome callId={call.callId} outcome={outcome} shown={shown} />
        </Part>
      )}
      {detail.files.length === 0 ? null : (
        <Part title="Files">
          <ul class="bullets">
            {detail.files.map((file) => (
              <li key={file.index}>
                <FileLink callId={call.callId} file={file} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {detail.children.length === 0 ? null : (
        <Part title="Nested calls">
          <CallTable calls={detail.children} caption="Nested calls" />
        </Part>
      )}
      <Part title="Run">
        <RunCalls call={call} />
      </Part>
      <Part title="Ids">
        <CallIds detail={detail} />
      </Part>
      <CallHistory detail={detail} shown={[...shown, ...reasons]} />
    </>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <section class="part card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** Advice for the model on how to get out of a loop. */
function adviceOf(outcome: object | undefined): string | undefined {
  const advice = (outcome as { readonly advice?: unknown } | undefined)?.advice;
  return typeof advice === 'string' ? advice : undefined;
}
