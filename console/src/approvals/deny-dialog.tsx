import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import type { DecideOptions } from './decide.ts';

const MAX_CHARACTERS = 512;

export interface DenyDialogProps {
  readonly title: string;
  readonly onDecide: (options: DecideOptions) => void;
  readonly onClose: () => void;
}

export function DenyDialog({ title, onDecide, onClose }: DenyDialogProps): VNode {
  const [comment, setComment] = useState('');
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="deny"
        onSubmit={(event) => {
          event.preventDefault();
          const said = comment.trim();
          onDecide({ decision: 'deny', ...(said === '' ? {} : { comment: said }) });
        }}
      >
        <label class="field">
          Why (the agent is told; may be empty)
          <input
            type="text"
            maxLength={MAX_CHARACTERS}
            value={comment}
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- screen readers announce a modal dialog: the move of the focus is noticed
            autoFocus
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </label>
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="danger">
            Deny
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
