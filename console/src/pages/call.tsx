import type { ComponentChildren, VNode } from 'preact';
import { useRoute } from 'preact-iso';
import { api, apiPath } from '../api.ts';
import type { CallDetail, CallRow } from '../api-types.ts';
import { CallActions } from '../calls/call-actions.tsx';
import { CallFacts, CallHistory, Verdicts } from '../calls/call-parts.tsx';
import { CallBadge, CallTable } from '../calls/call-table.tsx';
import { FileLink, Outcome } from '../calls/outcome.tsx';
import { Timeline } from '../calls/timeline.tsx';
import { CodeBlock } from '../components/code-block.tsx';
import { Inert } from '../components/inert.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Failure, Loading } from '../components/states.tsx';
import { useLive } from '../use-live.ts';
import { useResource } from '../use-resource.ts';
import '../styles/calls.css';

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
  if (one.data?.call.callId !== id) {
    return one.error === undefined ? <Loading /> : <Failure error={one.error} onRetry={one.reload} />;
  }
  return <Detail detail={one.data} onChange={one.reload} />;
}

function Detail({ detail, onChange }: { readonly detail: CallDetail; readonly onChange: () => void }): VNode {
  const { call, outcome } = detail;
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
      <Part title="Stages">
        <Timeline stages={detail.stages} />
      </Part>
      <div class="call-columns">
        <Part title="Verdict">
          <Verdicts detail={detail} />
        </Part>
        <Part title="Call">
          <CallFacts detail={detail} />
        </Part>
      </div>
      {call.arguments === undefined ? null : (
        <Part title="Arguments">
          <CodeBlock label="Arguments" text={indented(call.arguments)} />
        </Part>
      )}
      {outcome === undefined ? null : (
        <Part title="Output">
          <Outcome callId={call.callId} outcome={outcome} />
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
      <CallHistory detail={detail} />
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

/** Redacted arguments are cut, and then no JSON: shown as they are. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
