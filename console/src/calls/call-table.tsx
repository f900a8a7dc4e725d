import type { VNode } from 'preact';
import type { CallRow } from '../api-types.ts';
import { OutcomeBadge, StateBadge } from '../components/badge.tsx';
import { Inert, ShortId } from '../components/inert.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { showDuration } from '../show-time.ts';
import { momentOf } from './call-filter.ts';

export const callPath = (callId: string): string => `/console/calls/${encodeURIComponent(callId)}`;

export function CallBadge({ call }: { readonly call: CallRow }): VNode {
  return call.outcome === undefined ? <StateBadge state={call.state} /> : <OutcomeBadge outcome={call.outcome} />;
}

const COLUMNS: readonly Column<CallRow>[] = [
  {
    title: 'Tool',
    cell: (call) => (
      <a class="mono call-link" href={callPath(call.callId)}>
        <Inert text={call.tool} />
      </a>
    ),
  },
  { title: 'Id', minor: true, cell: ({ callId }) => <ShortId text={callId} /> },
  { title: 'State', cell: (call) => <CallBadge call={call} /> },
  { title: 'Agent', minor: true, cell: ({ agent }) => <Inert text={agent} /> },
  { title: 'Subject', minor: true, cell: ({ subject }) => <Inert text={subject} /> },
  {
    title: 'Code',
    minor: true,
    cell: ({ code }) => (
      <span class="mono">
        <Inert text={code ?? ''} />
      </span>
    ),
  },
  {
    title: 'Ran for',
    minor: true,
    numeric: true,
    cell: ({ ranMs }) => (ranMs === undefined ? '' : showDuration(ranMs)),
  },
  {
    title: 'When',
    numeric: true,
    cell: (call) => {
      const at = momentOf(call);
      return at === undefined ? '' : <Ago at={at} />;
    },
  },
];

export function CallTable({ calls, caption }: { readonly calls: readonly CallRow[]; readonly caption: string }): VNode {
  return <Table caption={caption} columns={COLUMNS} rows={calls} keyOf={({ callId }) => callId} />;
}
