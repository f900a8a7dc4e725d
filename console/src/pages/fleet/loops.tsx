import type { VNode } from 'preact';
import { Badge } from '../../components/badge.tsx';
import { Short } from '../../components/inert.tsx';
import { Name } from '../../components/name.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { showCount } from './describe-statistics.ts';
import type { LoopEnding, Statistics } from './fleet-types.ts';

export interface LoopsProps {
  readonly counts: Statistics['loops'];
  readonly endings: readonly LoopEnding[];
}

export function Loops({ counts: { warned, blocked }, endings }: LoopsProps): VNode {
  return (
    <section class="fleet-section" aria-labelledby="loops-title">
      <h2 id="loops-title">Loops</h2>
      <p class="hint">
        {`In this time ${showCount(warned)} calls were warned and ${showCount(blocked)} blocked because an agent repeated itself.`}
      </p>
      {endings.length === 0 ? null : (
        <Table
          caption="Last loops"
          columns={COLUMNS}
          rows={endings}
          keyOf={({ callId, at }) => `${callId} ${at}`}
          stacks
        />
      )}
    </section>
  );
}

const COLUMNS: readonly Column<LoopEnding>[] = [
  { title: 'When', cell: ({ at }) => <Ago at={at} /> },
  { title: 'What', cell: ({ kind }) => <Badge tone={kind === 'blocked' ? 'bad' : 'warning'}>{kind}</Badge> },
  { title: 'Detector', cell: ({ detector }) => <Name text={detector} /> },
  { title: 'Agent', cell: ({ agent }) => <Name text={agent} /> },
  { title: 'Tool', cell: ({ tool }) => <Name text={tool} mono /> },
  {
    title: 'Call',
    cell: ({ callId }) => (
      <a href={`/console/calls/${encodeURIComponent(callId)}`}>
        <Short text={callId} />
      </a>
    ),
  },
  { title: 'Run', cell: ({ run }) => <Short text={run} /> },
];
