import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, apiPath, withQuery } from '../api.ts';
import type { ApprovalView, ListedApprovalView } from '../api-types.ts';
import { Button } from '../components/button.tsx';
import { SearchField } from '../components/search-field.tsx';
import { Empty, Failure, Loading } from '../components/states.tsx';
import { useShortcuts } from '../shortcuts.ts';
import { useResource } from '../use-resource.ts';
import { ApprovalDetail } from './approval-detail.tsx';
import { ApprovalList } from './approval-list.tsx';
import { BatchDialog } from './batch-dialog.tsx';
import { isWhole } from './decide.ts';
import { matchesQuestion } from './distinguish.ts';
import { usePending } from './use-approvals.ts';

const HOME = '/console/approvals';
/** The address of one question, or of the list, with the search. */
const pathOf = (id: string | undefined, text: string): string =>
  withQuery(id === undefined ? HOME : `${HOME}/${encodeURIComponent(id)}`, { text });

/** Shows the list and the current question side by side. A phone shows one at a time. */
export function PendingApprovals({ openId }: { readonly openId: string | undefined }): VNode {
  const list = usePending();
  const { query, route } = useLocation();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [batch, setBatch] = useState<'allow-once' | 'deny'>();
  const text = query['text'] ?? '';
  const all = list.data ?? [];
  const approvals = all.filter((approval) => matchesQuestion(approval, text));
  // Until the person chooses a question, the first pending one is shown. It stays on the screen even after another approver has decided it:
  // otherwise another question could take its place just when the person presses a key. A phone shows the list until a question is chosen.
  const shownId = useRef<string>(undefined);
  const current =
    approvals.find(({ id }) => id === (openId ?? shownId.current)) ??
    (openId === undefined ? approvals.find(isPending) : undefined);
  shownId.current = current?.id;
  const chosen = all.filter((approval) => selected.has(approval.id));

  const move = (step: number) => (): void => {
    const at = approvals.findIndex(({ id }) => id === current?.id);
    const next = approvals[at < 0 ? 0 : Math.min(Math.max(at + step, 0), approvals.length - 1)];
    if (next !== undefined) route(pathOf(next.id, text), true);
  };
  const select = (id: string): void => {
    setSelected((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  };
  const onDecided = (decided: ApprovalView): void => {
    list.reload();
    const rest = approvals.filter((approval) => isPending(approval) && approval.id !== decided.id);
    const next = rest.find(({ requestedAt }) => requestedAt >= decided.requestedAt) ?? rest.at(-1);
    route(pathOf(next?.id, text), true);
  };
  const startBatch =
    (decision: 'allow-once' | 'deny') =>
    (event?: KeyboardEvent): void => {
      if (chosen.length > 0 && event?.repeat !== true) setBatch(decision);
    };
  const endBatch = (): void => {
    setBatch(undefined);
    setSelected(new Set());
    list.reload();
  };
  const hasSelection = chosen.length > 0;
  useShortcuts('Pending questions', [
    { keys: 'j', label: 'Next', run: move(1) },
    { keys: 'k', label: 'Previous', run: move(-1) },
    {
      keys: 'x',
      label: 'Select or unselect',
      run: () => current !== undefined && isPending(current) && select(current.id),
    },
    { keys: '/', label: 'Search', run: () => document.querySelector<HTMLElement>('[data-filter]')?.focus() },
    { keys: 'Enter', label: 'Open', run: () => current !== undefined && openAndFocus(route, pathOf(current.id, text)) },
    {
      keys: 'Escape',
      label: 'Select none, back to the list',
      run: () => (hasSelection ? setSelected(new Set()) : route(pathOf(undefined, text))),
    },
    ...(hasSelection
      ? [
          { keys: 'a', label: 'Allow the selected ones …', run: startBatch('allow-once') },
          { keys: 'd', label: 'Deny the selected ones …', run: startBatch('deny') },
        ]
      : []),
  ]);

  if (list.data === undefined) {
    return list.error === undefined ? <Loading /> : <Failure error={list.error} onRetry={list.reload} />;
  }
  if (current === undefined && openId === undefined && text === '') {
    return <Empty title="Nothing waits for you.">New questions appear here by themselves.</Empty>;
  }
  return (
    <>
      {list.error === undefined ? null : <Failure error={list.error} onRetry={list.reload} />}
      {hasSelection ? (
        <BatchBar count={chosen.length} onStart={startBatch} onClear={() => setSelected(new Set())} />
      ) : null}
      <SearchField class="approval-search" value={text} onSearch={(wanted) => route(pathOf(openId, wanted), true)} />
      <div class={`approvals${openId === undefined ? '' : ' approvals-open'}`}>
        {approvals.length === 0 ? (
          <Empty title={text === '' ? 'Nothing waits for you.' : 'No pending question matches.'} />
        ) : (
          <ApprovalList
            approvals={approvals}
            currentId={current?.id}
            selected={selected}
            pathOf={(id) => pathOf(id, text)}
            onSelect={select}
          />
        )}
        <div class="approval-pane">
          <a class="back phone-only" href={pathOf(undefined, text)}>
            All questions
          </a>
          {current === undefined && openId === undefined ? null : current !== undefined && isWhole(current) ? (
            <ApprovalDetail approval={current} areKeysTaken={hasSelection} onDecided={onDecided} />
          ) : (
            <OneApproval
              id={current?.id ?? openId ?? ''}
              version={current === undefined ? '' : `${current.state} ${current.votes.length}`}
              areKeysTaken={current !== undefined && hasSelection}
              onDecided={onDecided}
            />
          )}
        </div>
      </div>
      {batch === undefined ? null : <BatchDialog approvals={chosen} decision={batch} onClose={endBatch} />}
    </>
  );
}

interface OneApprovalProps {
  readonly id: string;
  /** The question is read again when this value changes. */
  readonly version: string;
  readonly areKeysTaken: boolean;
  readonly onDecided: (approval: ApprovalView) => void;
}

/**
 * A question that the list lacks or shows only in part: the person followed a link, another approver has decided it, or its arguments are
 * too long for a list. It is not replaced by another question.
 */
function OneApproval({ id, version, areKeysTaken, onDecided }: OneApprovalProps): VNode {
  const one = useResource((signal) => api.get<ApprovalView>(apiPath`/v1/approvals/${id}`, { signal }), [id, version]);
  if (one.error !== undefined) return <Failure error={one.error} onRetry={one.reload} />;
  if (one.data?.id !== id) return <Loading />;
  return <ApprovalDetail approval={one.data} areKeysTaken={areKeysTaken} onDecided={onDecided} />;
}

interface BatchBarProps {
  readonly count: number;
  readonly onStart: (decision: 'allow-once' | 'deny') => () => void;
  readonly onClear: () => void;
}

function BatchBar({ count, onStart, onClear }: BatchBarProps): VNode {
  return (
    <div class="batch-bar card" role="region" aria-label="Selected questions">
      <strong>{count} selected</strong>
      <Button kind="primary" shortcut="a" onClick={onStart('allow-once')}>
        Allow …
      </Button>
      <Button kind="danger" shortcut="d" onClick={onStart('deny')}>
        Deny …
      </Button>
      <Button kind="quiet" onClick={onClear}>
        Select none
      </Button>
    </div>
  );
}

function isPending({ state }: ListedApprovalView): boolean {
  return state === 'pending';
}

/** Opens the question and moves the focus to it, so that arrow keys and screen readers start there. */
function openAndFocus(route: (url: string) => void, path: string): void {
  route(path);
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.question h2')?.focus());
}
