import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, apiPath } from '../api.ts';
import type { ApprovalView, ListedApprovalView } from '../api-types.ts';
import { Button } from '../components/button.tsx';
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
const pathOf = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;

/** Shows the list and the current question side by side. A phone shows one at a time. */
export function PendingApprovals({ openId }: { readonly openId: string | undefined }): VNode {
  const list = usePending();
  const { route } = useLocation();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [batch, setBatch] = useState<'allow-once' | 'deny'>();
  const [text, setText] = useState('');
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
    if (next !== undefined) route(pathOf(next.id), true);
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
    route(next === undefined ? HOME : pathOf(next.id), true);
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
    { keys: 'Enter', label: 'Open', run: () => current !== undefined && openAndFocus(route, current.id) },
    {
      keys: 'Escape',
      label: 'Select none, back to the list',
      run: () => (hasSelection ? setSelected(new Set()) : route(HOME)),
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
      <label class="field approval-search">
        Search id or text
        <input
          type="search"
          autoComplete="off"
          spellcheck={false}
          data-filter
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {approvals.length === 0 && text !== '' ? <Empty title="No question that waits is like that." /> : null}
      <div class={`approvals${openId === undefined ? '' : ' approvals-open'}`}>
        <ApprovalList approvals={approvals} currentId={current?.id} selected={selected} onSelect={select} />
        <div class="approval-pane">
          <a class="back phone-only" href={HOME}>
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
function openAndFocus(route: (url: string) => void, id: string): void {
  route(pathOf(id));
  requestAnimationFrame(() => document.querySelector<HTMLElement>('.question h2')?.focus());
}
