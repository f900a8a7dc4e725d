import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { withQuery } from '../api.ts';
import { readFilter, type CallFilter } from '../calls/call-filter.ts';
import { callPath, CallTable } from '../calls/call-table.tsx';
import { FilterForm } from '../calls/filter-form.tsx';
import { useCalls } from '../calls/use-calls.ts';
import { Button } from '../components/button.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Empty, Failure, Loading } from '../components/states.tsx';
import { useShortcuts } from '../shortcuts.ts';
import '../styles/calls.css';

const HOME = '/console/calls';
/** A whole call id. The list reaches back only a limited time per page, but a call of any age can be opened by its id. */
const WHOLE_ID = /^\d{1,4}\.[\w-]{12}\.[\w-]{22}(?:~\d{1,6})?$/;

export function Calls(): VNode {
  const { query, route } = useLocation();
  const filter = readFilter(query);
  const { cursor } = query;
  const [isPaused, setPaused] = useState(false);
  const page = useCalls(filter, cursor, isPaused);
  const show = (next: CallFilter, at?: string): void => route(withQuery(HOME, { ...next, cursor: at }));
  const next = page.data?.next;
  const older = (): void => {
    if (next !== undefined) show(filter, next);
  };
  useShortcuts('Calls', [
    { keys: 'j', label: 'Next call', run: () => moveFocus(1) },
    { keys: 'k', label: 'Previous call', run: () => moveFocus(-1) },
    { keys: '/', label: 'Search', run: () => document.querySelector<HTMLElement>('[data-filter]')?.focus() },
    { keys: 'p', label: 'Pause or go on', run: () => setPaused((before) => !before) },
    { keys: 'n', label: 'Older calls', run: older },
  ]);
  return (
    <>
      <PageHead title="Calls">
        {cursor === undefined ? (
          <Button pressed={isPaused} shortcut="p" onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Paused' : 'Pause'}
          </Button>
        ) : null}
      </PageHead>
      <FilterForm filter={filter} onChange={show} onType={(typed) => route(withQuery(HOME, typed), true)} />
      {filter.text !== undefined && WHOLE_ID.test(filter.text) ? (
        <p>
          <a href={callPath(filter.text)}>Open the call with this id</a>, however old it is.
        </p>
      ) : null}
      {page.error === undefined ? null : <Failure error={page.error} onRetry={page.reload} />}
      {page.data === undefined ? null : page.data.items.length === 0 ? (
        <Empty title="No such calls.">
          {Object.keys(filter).length === 0 ? 'Calls appear here when agents make them.' : 'Try a wider filter.'}
        </Empty>
      ) : (
        <CallTable calls={page.data.items} caption="Calls" />
      )}
      {page.data === undefined && page.error === undefined ? <Loading /> : null}
      <div class="paging">
        {cursor === undefined ? null : <Button onClick={() => show(filter)}>Newest</Button>}
        {next === undefined ? null : (
          <Button shortcut="n" onClick={older}>
            Older
          </Button>
        )}
      </div>
    </>
  );
}

/** Moves the focus from link to link in the list. Tab and the screen reader's own keys work as well. */
function moveFocus(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('.call-link')];
  const at = links.findIndex((link) => link === document.activeElement);
  links[at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)]?.focus();
}
