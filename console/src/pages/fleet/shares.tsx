import type { VNode } from 'preact';
import { withQuery } from '../../api.ts';
import { Name } from '../../components/name.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { showDuration } from '../../show-time.ts';
import { showCount } from './describe-statistics.ts';
import type { Share, Statistics } from './fleet-types.ts';

export function Shares({ totals }: { readonly totals: Statistics['totals'] }): VNode | null {
  if (totals.byTool.length === 0 && totals.byAgent.length === 0) return null;
  return (
    <section class="fleet-section" aria-labelledby="shares-title">
      <h2 id="shares-title">Most calls</h2>
      <div class="shares">
        <Table
          caption="Tools with most calls"
          columns={columnsOf('tool')}
          rows={totals.byTool}
          keyOf={({ name }) => name}
        />
        <Table
          caption="Agents with most calls"
          columns={columnsOf('agent')}
          rows={totals.byAgent}
          keyOf={({ name }) => name}
        />
      </div>
    </section>
  );
}

function columnsOf(what: 'tool' | 'agent'): readonly Column<Share>[] {
  const show = (ms: number | undefined): string => (ms === undefined ? '–' : showDuration(ms));
  return [
    {
      title: what === 'tool' ? 'Tool' : 'Agent',
      cell: ({ name }) => (
        <a class="mono" href={withQuery('/console/calls', { [what]: name })}>
          <Name text={name} />
        </a>
      ),
    },
    { title: 'Calls', cell: ({ calls }) => showCount(calls), numeric: true },
    { title: 'Not ok', cell: ({ notOk }) => showCount(notOk), numeric: true },
    { title: 'p50', cell: ({ p50 }) => show(p50), numeric: true, minor: true },
    { title: 'p99', cell: ({ p99 }) => show(p99), numeric: true, minor: true },
  ];
}
