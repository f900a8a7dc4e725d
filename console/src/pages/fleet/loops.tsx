import type { VNode } from 'preact';
import { withQuery } from '../../api.ts';
import { callPath } from '../../calls/call-table.tsx';
import { Badge } from '../../components/badge.tsx';
import { Inert, ShortId } from '../../components/inert.tsx';
import { Name } from '../../components/name.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { showCount } from './describe-statistics.ts';
import type { LoopEnding, Statistics } from './fleet-types.ts';
import { groupLoops, type LoopRun } from './group-loops.ts';

export interface LoopsProps {
  readonly counts: Statistics['loops'];
  readonly endings: readonly LoopEnding[];
}

export function Loops({ counts: { warned, blocked }, endings }: LoopsProps): VNode {
  return (
    <section class="fleet-section" aria-labelledby="loops-title">
      <h2 id="loops-title">Loops</h2>
      <p class="hint">
        {`Calls of this time in which an agent repeated itself: ${showCount(warned)} warned, ${showCount(blocked)} blocked.`}
      </p>
      {endings.length === 0 ? null : (
        <Table
          caption="Runs that looped"
          columns={COLUMNS}
          rows={groupLoops(endings)}
          keyOf={({ agent, run }) => `${agent} ${run}`}
          stacks
        />
      )}
    </section>
  );
}

const COLUMNS: readonly Column<LoopRun>[] = [
  { title: 'Last', cell: ({ at }) => <Ago at={at} /> },
  {
    title: 'Run',
    cell: ({ run }) => (
      <a class="mono" href={withQuery('/console/calls', { run })}>
        <Inert text={run} />
      </a>
    ),
  },
  { title: 'Agent', cell: ({ agent }) => <Name text={agent} /> },
  {
    title: 'What',
    cell: ({ warned, blocked }) => (
      <span class="badges">
        {blocked === 0 ? null : <Badge tone="bad">{`${blocked} blocked`}</Badge>}
        {warned === 0 ? null : <Badge tone="warning">{`${warned} warned`}</Badge>}
      </span>
    ),
  },
  { title: 'Tools', cell: ({ tools }) => <Name text={tools.join(', ')} mono /> },
  { title: 'Detectors', cell: ({ detectors }) => <Name text={detectors.join(', ')} /> },
  {
    title: 'Calls',
    cell: ({ endings }) => (
      <details>
        <summary>{endings.length}</summary>
        <ul>
          {endings.map(({ callId, at, kind }) => (
            <li key={`${callId} ${at}`}>
              <a href={callPath(callId)}>
                <ShortId text={callId} />
              </a>{' '}
              {kind} <Ago at={at} />
            </li>
          ))}
        </ul>
      </details>
    ),
  },
];
