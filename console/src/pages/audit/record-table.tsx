import type { VNode } from 'preact';
import { OutcomeBadge } from '../../components/badge.tsx';
import { Inert } from '../../components/inert.tsx';
import { Name } from '../../components/name.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Ago } from '../../components/time.tsx';
import { recordKey, subjectOf, whyOf, type ShownRecord } from './record-facts.ts';

export interface RecordTableProps {
  readonly records: readonly ShownRecord[];
  readonly onOpen: (record: ShownRecord) => void;
  /** True while another page is being read. The table then still shows the records of the page before. */
  readonly isStale: boolean;
}

const MAX_WHY = 120;

export function RecordTable({ records, onOpen, isStale }: RecordTableProps): VNode {
  const columns: readonly Column<ShownRecord>[] = [
    { title: 'When', cell: ({ at }) => <Ago at={at} /> },
    {
      title: 'Event',
      cell: (record) => (
        <button type="button" class="link" onClick={() => onOpen(record)}>
          <Name text={record.event} />
        </button>
      ),
    },
    { title: 'Ended', cell: ({ outcome }) => (outcome === undefined ? '' : <OutcomeBadge outcome={outcome} />) },
    {
      title: 'Tool',
      cell: ({ tool }) => (tool === undefined ? '' : <Name text={tool} mono />),
    },
    { title: 'Agent', cell: ({ agent }) => (agent === undefined ? '' : <Name text={agent} />), minor: true },
    {
      title: 'Subject',
      cell: (record) => (record.subject === undefined ? '' : <Name text={subjectOf(record)} />),
      minor: true,
    },
    { title: 'Why', cell: (record) => <Why text={whyOf(record)} />, minor: true },
  ];
  return (
    <div class={isStale ? 'stale' : ''} aria-busy={isStale}>
      <Table caption="Records" columns={columns} rows={records} keyOf={recordKey} stacks />
    </div>
  );
}

function Why({ text }: { readonly text: string }): VNode {
  return <Inert text={text.length > MAX_WHY ? `${text.slice(0, MAX_WHY)}…` : text} />;
}
