import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Empty, Failure, Loading } from '../../components/states.tsx';
import { useShortcuts } from '../../shortcuts.ts';
import { VERDICTS } from './access-types.ts';
import { CellReason } from './cell-reason.tsx';
import { MatrixGrid } from './matrix-grid.tsx';
import { cellOf, useMatrix, type Matrix } from './use-matrix.ts';
import { MEANINGS, VerdictMark } from './verdict-mark.tsx';

interface MatrixViewProps {
  readonly tenant: string;
  readonly subject: string;
  readonly onTry: (cell: { agent: string; tool: string }) => void;
}

/** All agents and tools for one subject. The reason for the chosen cell is shown next to the grid. */
export function MatrixView({ tenant, subject, onTry }: MatrixViewProps): VNode {
  const { data, error, isLoading, reload, readMore, pageError } = useMatrix(tenant, subject);
  if (data === undefined)
    return error === undefined ? <Loading what="Reading the matrix" /> : <Failure error={error} onRetry={reload} />;
  return (
    <>
      {error === undefined || isLoading ? null : <Failure error={error} onRetry={reload} />}
      {pageError === undefined ? null : <Failure error={pageError} onRetry={readMore} />}
      <FilteredMatrix matrix={data} readMore={readMore} tenant={tenant} subject={subject} onTry={onTry} />
    </>
  );
}

interface FilteredMatrixProps extends MatrixViewProps {
  readonly matrix: Matrix;
  readonly readMore: () => void;
}

function FilteredMatrix({ matrix, readMore, tenant, subject, onTry }: FilteredMatrixProps): VNode {
  const [agentText, setAgentText] = useState('');
  const [toolText, setToolText] = useState('');
  const [chosen, setChosen] = useState<{ agent: string; tool: string }>();
  const agents = useMemo(() => filterNames(matrix.agents, agentText), [matrix.agents, agentText]);
  const tools = useMemo(() => filterNames(matrix.tools, toolText), [matrix.tools, toolText]);
  useShortcuts('Access', [
    { keys: '/', label: 'Filter tools', run: () => document.querySelector<HTMLElement>('[data-filter]')?.focus() },
  ]);
  if (matrix.agents.length === 0) {
    return (
      <Empty title="No agent is declared.">
        Permissions alone decide then. Declare agents with <code>sallyport agents set</code>, or try one by name under
        “Would this be allowed?”.
      </Empty>
    );
  }
  if (matrix.tools.length === 0)
    return <Empty title="No tool is published.">Start a worker that serves a module.</Empty>;
  return (
    <>
      <div class="access-filters">
        <Filter label="Agents with" value={agentText} onInput={setAgentText} />
        <Filter label="Tools with" value={toolText} onInput={setToolText} />
        <p class="hint" role="status">
          {`${tools.length} of ${matrix.tools.length} tools, ${agents.length} of ${matrix.agents.length} agents`}
        </p>
      </div>
      <ul class="access-legend" aria-label="What the words mean">
        {VERDICTS.map((verdict) => (
          <li key={verdict}>
            <VerdictMark verdict={verdict} /> {MEANINGS[verdict]}
          </li>
        ))}
      </ul>
      <div class="access-split">
        {agents.length === 0 || tools.length === 0 ? (
          <Empty title="Nothing is called like that." />
        ) : (
          <MatrixGrid matrix={matrix} agents={agents} tools={tools} onLook={setChosen} onMissing={readMore} />
        )}
        {chosen === undefined ? (
          <p class="card cell-reason hint">Choose a cell to read its reason. Arrow keys move in the table.</p>
        ) : (
          <CellReason
            asked={{ ...chosen, tenant, subject }}
            cell={cellOf(matrix, chosen.agent, chosen.tool)}
            onTry={() => onTry(chosen)}
          />
        )}
      </div>
    </>
  );
}

function Filter({ label, value, onInput }: { label: string; value: string; onInput: (value: string) => void }): VNode {
  return (
    <label class="field">
      {label}
      <input
        type="search"
        data-filter={label === 'Tools with' ? '' : undefined}
        value={value}
        autocomplete="off"
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}

function filterNames(names: readonly string[], text: string): readonly string[] {
  const wanted = text.trim().toLowerCase();
  return wanted === '' ? names : names.filter((name) => name.toLowerCase().includes(wanted));
}
