import type { VNode } from 'preact';
import type { ApprovalView } from '../api-types.ts';
import { Button } from '../components/button.tsx';
import type { SecondPress } from './use-second-press.ts';

export interface DecisionBarProps {
  readonly approval: ApprovalView;
  /** Why nothing can be decided now. Undefined: a decision is possible. */
  readonly blocked: string | undefined;
  /** Why the question cannot be allowed yet. It can still be denied. */
  readonly unread: string | undefined;
  readonly second: SecondPress;
  /** True while the keys act on other questions. The buttons then show no keys. */
  readonly areKeysTaken: boolean;
  /** Reveals what is masked. Undefined if nothing is masked. */
  readonly onReveal: (() => void) | undefined;
  readonly isRevealing: boolean;
  readonly onAllow: () => void;
  readonly onAlways: () => void;
  readonly onEdit: () => void;
  readonly onDeny: () => void;
}

export function DecisionBar(props: DecisionBarProps): VNode {
  const { approval, blocked, unread, second, areKeysTaken } = props;
  const key = (name: string): string | undefined => (areKeysTaken ? undefined : name);
  const mayAllow = blocked === undefined && unread === undefined;
  return (
    <div class="decision-bar">
      <div class="decision-buttons">
        {props.onReveal === undefined ? null : (
          <Button shortcut={key('r')} disabled={blocked !== undefined || props.isRevealing} onClick={props.onReveal}>
            Reveal
          </Button>
        )}
        {approval.decisions.includes('allow-once') ? (
          <Button kind="primary" shortcut={key('a')} disabled={!mayAllow} onClick={props.onAllow}>
            {second.isArmed ? 'Critical: press again' : 'Allow once'}
          </Button>
        ) : null}
        {approval.decisions.includes('allow-always') ? (
          <Button shortcut={key('w')} disabled={!mayAllow} onClick={props.onAlways}>
            Always …
          </Button>
        ) : null}
        {approval.editable && approval.decisions.includes('allow-once') ? (
          <Button shortcut={key('e')} disabled={!mayAllow} onClick={props.onEdit}>
            Edit …
          </Button>
        ) : null}
        {approval.decisions.includes('deny') ? (
          <Button kind="danger" shortcut={key('d')} disabled={blocked !== undefined} onClick={props.onDeny}>
            Deny …
          </Button>
        ) : null}
      </div>
      <p class="hint" role="status">
        {blocked ?? unread ?? ''}
      </p>
    </div>
  );
}
