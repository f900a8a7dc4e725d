import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, withQuery } from '../api.ts';
import type { Page } from '../api-types.ts';
import { Button } from '../components/button.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Empty, Failure, Loading } from '../components/states.tsx';
import { useShortcuts } from '../shortcuts.ts';
import { useResource } from '../use-resource.ts';
import { filterOf, queryOf, type AuditFilter } from './audit/audit-filter.ts';
import { FilterForm } from './audit/filter-form.tsx';
import { RecordDetail } from './audit/record-detail.tsx';
import { RecordTable } from './audit/record-table.tsx';
import { recordKey, type ShownRecord } from './audit/record-facts.ts';
import { Verification } from './audit/verification.tsx';
import './audit/audit.css';

const PAGE_SIZE = 50;

/** The audit page. The filter is in the address, so that a search can be shared. */
export function Audit(): VNode {
  const { query, route } = useLocation();
  const filter = filterOf(query);
  return (
    <>
      <PageHead title="Audit" />
      <Verification />
      <FilterForm
        key={JSON.stringify(filter)}
        filter={filter}
        onSearch={(next) => route(withQuery('/console/audit', { ...next }))}
      />
      <Records filter={filter} />
    </>
  );
}

function Records({ filter }: { readonly filter: AuditFilter }): VNode {
  const wanted = JSON.stringify(filter);
  // The cursors of all pages up to the current one. The API can only page forward, so they are needed to go back.
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  const [open, setOpen] = useState<ShownRecord>();
  useEffect(() => setCursors([undefined]), [wanted]);
  const cursor = cursors.at(-1);
  const { data, error, isLoading, reload } = useResource(
    (signal) =>
      api.get<Page<ShownRecord>>('/v1/audit', { query: { ...queryOf(filter), limit: PAGE_SIZE, cursor }, signal }),
    [wanted, cursor],
  );
  const older = (): void => {
    if (data?.next !== undefined) setCursors([...cursors, data.next]);
  };
  const newer = (): void => setCursors(cursors.length === 1 ? cursors : cursors.slice(0, -1));
  useShortcuts('Audit', [
    { keys: '/', label: 'Search by tool', run: () => document.querySelector<HTMLElement>('[data-filter]')?.focus() },
    { keys: 'n', label: 'Older records', run: older },
    { keys: 'p', label: 'Newer records', run: newer },
  ]);
  if (error !== undefined && !isLoading) return <Failure error={error} onRetry={reload} />;
  if (data === undefined) return <Loading what="Searching" />;
  return (
    <>
      {data.items.length === 0 ? (
        <Empty title="No record is like that.">Fewer conditions find more.</Empty>
      ) : (
        <RecordTable records={data.items} onOpen={setOpen} isStale={isLoading} />
      )}
      <nav class="pager" aria-label="Pages of records">
        <Button disabled={cursors.length === 1} shortcut="p" onClick={newer}>
          Newer
        </Button>
        <span class="hint">{`Page ${cursors.length}, newest first`}</span>
        <Button disabled={data.next === undefined} shortcut="n" onClick={older}>
          Older
        </Button>
        <Button kind="quiet" onClick={reload}>
          Read again
        </Button>
      </nav>
      {open === undefined ? null : (
        <RecordDetail key={recordKey(open)} record={open} onClose={() => setOpen(undefined)} />
      )}
    </>
  );
}
