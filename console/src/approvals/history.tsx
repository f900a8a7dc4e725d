import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api, apiPath } from '../api.ts';
import type { ApprovalView, ListedApprovalView, Page } from '../api-types.ts';
import { StateBadge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Inert, ShortId } from '../components/inert.tsx';
import { Name } from '../components/name.tsx';
import { Empty, Failure, Loading } from '../components/states.tsx';
import { Table, type Column } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { useLive } from '../use-live.ts';
import { useResource } from '../use-resource.ts';
import { Question } from './question.tsx';
import { distinguish } from './distinguish.ts';

const PAGE = 100;

/** Questions that were decided, have expired or were withdrawn, newest first. */
export function History(): VNode {
  const [cursor, setCursor] = useState<string>();
  const [open, setOpen] = useState<ListedApprovalView>();
  const page = useResource(
    (signal) => api.get<Page<ListedApprovalView>>('/v1/approvals', { query: { limit: PAGE, cursor }, signal }),
    [cursor],
  );
  const onEvent = (): void => {
    if (cursor === undefined) page.reload();
  };
  useLive('approvals', { onEvent, onResync: page.reload });
  if (page.data === undefined) {
    return page.error === undefined ? <Loading /> : <Failure error={page.error} onRetry={page.reload} />;
  }
  const rows = page.data.items.filter(({ state }) => state !== 'pending').toSorted(byEnd);
  const { next } = page.data;
  return (
    <>
      {rows.length === 0 ? (
        <Empty title="Nothing was decided yet." />
      ) : (
        <Table
          caption="Decided questions"
          columns={columnsWith(setOpen, distinguish(rows))}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      <div class="paging">
        {cursor === undefined ? null : <Button onClick={() => setCursor(undefined)}>Newest</Button>}
        {next === undefined ? null : <Button onClick={() => setCursor(next)}>Older</Button>}
      </div>
      {open === undefined ? null : (
        <Dialog title="A decided question" wide onClose={() => setOpen(undefined)}>
          <WholeQuestion id={open.id} />
        </Dialog>
      )}
    </>
  );
}

function WholeQuestion({ id }: { readonly id: string }): VNode {
  const one = useResource((signal) => api.get<ApprovalView>(apiPath`/v1/approvals/${id}`, { signal }), [id]);
  if (one.error !== undefined) return <Failure error={one.error} onRetry={one.reload} />;
  if (one.data === undefined) return <Loading />;
  return <Question approval={one.data} isExpanded={false} onExpand={() => {}} />;
}

function byEnd(one: ListedApprovalView, other: ListedApprovalView): number {
  return (other.resolvedAt ?? other.requestedAt) - (one.resolvedAt ?? one.requestedAt);
}

function columnsWith(
  open: (approval: ListedApprovalView) => void,
  lines: ReadonlyMap<string, string>,
): readonly Column<ListedApprovalView>[] {
  return [
    { title: 'State', cell: ({ state }) => <StateBadge state={state} /> },
    {
      title: 'Tool',
      cell: (approval) => (
        <button type="button" class="link mono" onClick={() => open(approval)}>
          <Inert text={approval.tool} />
        </button>
      ),
    },
    { title: 'Arguments', minor: true, cell: ({ id }) => <Inert text={lines.get(id) ?? ''} /> },
    { title: 'Id', minor: true, cell: ({ id }) => <ShortId text={id} /> },
    { title: 'Agent', minor: true, cell: ({ agent }) => <Name text={agent} /> },
    { title: 'Subject', minor: true, cell: ({ subject }) => <Name text={subject} /> },
    { title: 'By', cell: ({ votes }) => <Name text={votes.map(({ by }) => by.name).join(', ') || '–'} /> },
    { title: 'When', cell: ({ resolvedAt, requestedAt }) => <Ago at={resolvedAt ?? requestedAt} /> },
  ];
}
