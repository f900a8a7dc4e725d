import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApprovalView } from '../api-types.ts';
import { now } from '../clock.ts';
import { showToast } from '../components/toast.tsx';
import { useShortcuts, type Shortcut } from '../shortcuts.ts';
import { AlwaysDialog } from './always-dialog.tsx';
import { isFolded } from './argument-limits.ts';
import { decide, whyNot, type DecideOptions } from './decide.ts';
import { DecisionBar } from './decision-bar.tsx';
import { DenyDialog } from './deny-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { Question } from './question.tsx';
import { useLookedAt } from './use-looked-at.ts';
import { useReveal } from './use-reveal.ts';
import { useSecondPress } from './use-second-press.ts';

export interface ApprovalDetailProps {
  readonly approval: ApprovalView;
  /** True while questions are selected: then the keys that decide apply to the selected questions and not to this one. */
  readonly areKeysTaken: boolean;
  readonly onDecided: (approval: ApprovalView) => void;
}

/** One question and the ways to decide it. */
export function ApprovalDetail({ approval: asked, areKeysTaken, onDecided }: ApprovalDetailProps): VNode {
  const { approval, isMasked, isRevealing, onReveal } = useReveal(asked);
  const [dialog, setDialog] = useState<'always' | 'edit' | 'deny'>();
  const [expandedId, setExpandedId] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  // A revealed text is new to the person, so the minimum time on the screen starts again.
  const looked = `${approval.id} ${isMasked}`;
  const isLookedAt = useLookedAt(looked);
  const second = useSecondPress(approval.severity === 'critical', looked);
  const closed = whyNot(approval, now.value);
  useEffect(() => setDialog(undefined), [approval.id]);

  const isExpanded = expandedId === approval.id;
  const isLong = isFolded(approval.arguments.shown) || isFolded(approval.answers?.shown ?? '');
  const unopened = isLong && !isExpanded ? 'Open all of the arguments to allow it.' : undefined;
  const unread = isMasked ? 'Reveal what is masked to allow it.' : unopened;
  const blocked = closed ?? (isBusy ? 'Deciding …' : isLookedAt ? undefined : ' ');
  const mayAllow = blocked === undefined && unread === undefined;

  const send = async (options: DecideOptions): Promise<void> => {
    setDialog(undefined);
    setBusy(true);
    const { isDone, text } = await decide(approval, options).finally(() => setBusy(false));
    showToast(`${approval.tool}: ${text}`, isDone ? 'good' : 'bad');
    if (isDone) onDecided(approval);
  };
  /**
   * Sends an `allow-always`. If the gateway does not understand the grant, the dialog stays open with the problems, so that the person can
   * correct it.
   */
  const sendAlways = async (options: DecideOptions): Promise<readonly string[]> => {
    const result = await decide(approval, options);
    if (!result.isDone && result.problems !== undefined) return result.problems;
    setDialog(undefined);
    showToast(`${approval.tool}: ${result.text}`, result.isDone ? 'good' : 'bad');
    if (result.isDone) onDecided(approval);
    return [];
  };
  const allow = (): void => second.press(() => void send({ decision: 'allow-once' }));
  const when = (isPossible: boolean, run: () => void) => (event: KeyboardEvent) => {
    if (isPossible && !event.repeat) run();
  };
  const offers = (decision: DecideOptions['decision']): boolean => approval.decisions.includes(decision);
  const shortcuts: readonly Shortcut[] = [
    { keys: 'a', label: 'Allow once (twice if critical)', run: when(mayAllow && offers('allow-once'), allow) },
    { keys: 'w', label: 'Allow always …', run: when(mayAllow && offers('allow-always'), () => setDialog('always')) },
    { keys: 'e', label: 'Edit arguments …', run: when(mayAllow && approval.editable, () => setDialog('edit')) },
    { keys: 'd', label: 'Deny …', run: when(blocked === undefined && offers('deny'), () => setDialog('deny')) },
    { keys: 'r', label: 'Reveal what is masked', run: when(closed === undefined && isMasked, onReveal) },
    { keys: 'o', label: 'Open all of the arguments', run: () => setExpandedId(approval.id) },
  ];
  useShortcuts('This question', areKeysTaken ? [] : shortcuts);
  const close = (): void => setDialog(undefined);
  return (
    <article class="question card" aria-label="Question" data-ready={blocked === undefined}>
      <Question approval={approval} isExpanded={isExpanded} onExpand={() => setExpandedId(approval.id)} />
      <DecisionBar
        approval={approval}
        blocked={blocked}
        unread={unread}
        second={second}
        areKeysTaken={areKeysTaken}
        onReveal={isMasked ? onReveal : undefined}
        isRevealing={isRevealing}
        onAllow={allow}
        onAlways={() => setDialog('always')}
        onEdit={() => setDialog('edit')}
        onDeny={() => setDialog('deny')}
      />
      {dialog === 'always' ? <AlwaysDialog approval={approval} onDecide={sendAlways} onClose={close} /> : null}
      {dialog === 'edit' ? (
        <EditDialog approval={approval} onDecide={(options) => void send(options)} onClose={close} />
      ) : null}
      {dialog === 'deny' ? (
        <DenyDialog title="Deny" onDecide={(options) => void send(options)} onClose={close} />
      ) : null}
    </article>
  );
}
