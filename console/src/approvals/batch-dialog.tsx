import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ListedApprovalView } from '../api-types.ts';
import { SeverityBadge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Inert } from '../components/inert.tsx';
import { now } from '../clock.ts';
import { isFolded } from './argument-limits.ts';
import { decide, isWhole, whyNot, type DecideResult, type DecideOptions } from './decide.ts';
import { WhatRuns } from './question.tsx';
import { useLookedAt } from './use-looked-at.ts';
import { useSecondPress } from './use-second-press.ts';

export interface BatchDialogProps {
  readonly approvals: readonly ListedApprovalView[];
  readonly decision: 'allow-once' | 'deny';
  readonly onClose: () => void;
}

/**
 * Decides several questions, listed one below the other. Each decision is sent as a separate request with the binding of its question, and
 * has its own result.
 */
export function BatchDialog({ approvals: chosen, decision, onClose }: BatchDialogProps): VNode {
  // A copy of the questions as they were when the dialog opened. A decision by another approver in the meantime must not remove a row.
  const [approvals] = useState(chosen);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const [results, setResults] = useState<ReadonlyMap<string, DecideResult>>(new Map());
  const [comment, setComment] = useState('');
  const [isSent, setSent] = useState(false);
  const isAllow = decision === 'allow-once';
  const whyNotHere = (approval: ListedApprovalView): string | undefined =>
    whyNot(approval, now.value) ??
    (isWhole(approval) ? undefined : 'Only its beginning is shown here. Open it alone, then decide it.') ??
    (isAllow && approval.masked ? 'Part of it is masked. Open it alone, reveal it, then allow it.' : undefined);
  const open = approvals.filter(isWhole).filter((approval) => whyNotHere(approval) === undefined);
  const ids = approvals.map(({ id }) => id).join(' ');
  const isLookedAt = useLookedAt(ids);
  const hasCritical = open.some(({ severity }) => severity === 'critical');
  const second = useSecondPress(isAllow && hasCritical, ids);
  const isLong = ({ arguments: args, answers }: ListedApprovalView): boolean =>
    isFolded(args.shown) || isFolded(answers?.shown ?? '');
  const unread = isAllow ? open.filter((approval) => isLong(approval) && !expanded.has(approval.id)) : [];

  const send = async (): Promise<void> => {
    setSent(true);
    // The pressed button disappears, so the focus moves to the button that stays.
    document.querySelector<HTMLElement>('dialog[open] .dialog-actions .button')?.focus();
    const said = comment.trim();
    const options: DecideOptions = { decision, ...(said === '' ? {} : { comment: said }) };
    for (const approval of open) {
      const result = await decide(approval, options);
      setResults((before) => new Map(before).set(approval.id, result));
    }
  };
  const verb = isAllow ? 'Allow' : 'Deny';
  return (
    <Dialog title={`${verb} ${approvals.length} questions`} wide onClose={onClose}>
      <ul class="batch">
        {approvals.map((approval) => (
          <li key={approval.id} class="card batch-item">
            <div class="batch-head">
              <SeverityBadge severity={approval.severity} />
              <strong class="mono">
                <Inert text={approval.tool} />
              </strong>
              <span class="hint">
                <Inert text={`${approval.agent} for ${approval.subject}`} />
              </span>
            </div>
            <BatchResult result={results.get(approval.id)} why={isSent ? undefined : whyNotHere(approval)} />
            {isSent ? null : (
              <WhatRuns
                approval={approval}
                isExpanded={expanded.has(approval.id)}
                onExpand={() => setExpanded((before) => new Set(before).add(approval.id))}
              />
            )}
          </li>
        ))}
      </ul>
      {isAllow || isSent ? null : (
        <label class="field">
          Why (the agents are told; may be empty)
          <input
            type="text"
            maxLength={512}
            value={comment}
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </label>
      )}
      <p class="hint" role="status">
        {isSent ? `${results.size} of ${open.length} answered.` : ''}
        {!isSent && unread.length > 0 ? `Open the long arguments of ${unread.length} first.` : ''}
      </p>
      <div class="dialog-actions">
        <Button onClick={onClose}>{isSent ? 'Close' : 'Cancel'}</Button>
        {isSent ? null : (
          <Button
            kind={isAllow ? 'primary' : 'danger'}
            disabled={!isLookedAt || unread.length > 0 || open.length === 0}
            onClick={() => second.press(() => void send())}
          >
            {second.isArmed ? `Critical: press again to allow ${open.length}` : `${verb} ${open.length}`}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function BatchResult(props: {
  readonly result: DecideResult | undefined;
  readonly why: string | undefined;
}): VNode | null {
  const { result, why } = props;
  if (result !== undefined) {
    return (
      <p class={result.isDone ? 'result-good' : 'result-bad'}>
        <Inert text={result.text} />
      </p>
    );
  }
  return why === undefined ? null : <p class="result-bad">{why}</p>;
}
