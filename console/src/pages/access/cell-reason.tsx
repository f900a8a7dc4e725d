import type { VNode } from 'preact';
import { api } from '../../api.ts';
import { Inert } from '../../components/inert.tsx';
import { Failure, Loading } from '../../components/states.tsx';
import { useResource } from '../../use-resource.ts';
import type { Asked, Explanation, MatrixCell } from './access-types.ts';
import { ExplanationView } from './explanation-view.tsx';
import { VerdictMark } from './verdict-mark.tsx';

/** Arrow keys move across many cells. The full reason is requested only for a cell that has had the focus for this long. */
const REST_MS = 250;

export interface CellReasonProps {
  readonly asked: Asked;
  readonly cell: MatrixCell | undefined;
  readonly onTry: () => void;
}

export function CellReason({ asked, cell, onTry }: CellReasonProps): VNode {
  const { agent, tool, subject, tenant } = asked;
  const { data, error, isLoading, reload } = useResource<Explanation>(
    async (signal) => {
      await rest(signal);
      return api.post<Explanation>('/v1/explain', asked, { signal });
    },
    [agent, tool, subject, tenant],
  );
  const isOther = data === undefined || data.tool !== tool || data.identity.agent !== agent;
  return (
    <section class="card cell-reason" aria-label="Reason">
      <h2>
        <Inert text={agent} /> <span aria-hidden="true">→</span> <Inert text={tool} />
      </h2>
      {isOther && cell !== undefined ? (
        <p>
          <VerdictMark verdict={cell.verdict} /> <Inert text={`${cell.decidedBy}: ${cell.found}`} />
        </p>
      ) : null}
      {error === undefined || isLoading ? null : <Failure error={error} onRetry={reload} />}
      {isOther && isLoading ? <Loading what="Reading the reason" /> : null}
      {isOther ? null : <ExplanationView explanation={data} />}
      <button type="button" class="button button-plain" onClick={onTry}>
        Try it with arguments
      </button>
    </section>
  );
}

function rest(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, REST_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('Overtaken', 'AbortError'));
    });
  });
}
