import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ApprovalView } from '../api-types.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Inert } from '../components/inert.tsx';
import { diffLines, type DiffLine } from '../line-diff.ts';
import { readArguments } from '../read-arguments.ts';
import type { DecideOptions } from './decide.ts';

export interface EditDialogProps {
  readonly approval: ApprovalView;
  readonly onDecide: (options: DecideOptions) => void;
  readonly onClose: () => void;
}

/** Lets the approver replace the asked arguments. They are checked while they are written, shown as a difference, and sent whole. */
export function EditDialog({ approval, onDecide, onClose }: EditDialogProps): VNode {
  const asked = useMemo(() => readArguments(approval.arguments.shown), [approval]);
  const [text, setText] = useState(asked.kind === 'valid' ? asked.normal : '{\n}');
  const read = useMemo(() => readArguments(text), [text]);
  const isChanged = read.kind === 'valid' && (asked.kind === 'invalid' || read.normal !== asked.normal);
  return (
    <Dialog title="Edit and allow once" wide onClose={onClose}>
      <form
        class="edit"
        onSubmit={(event) => {
          event.preventDefault();
          if (read.kind === 'valid') onDecide({ decision: 'allow-once', arguments: { ...read.value } });
        }}
      >
        <label class="field">
          Arguments as JSON
          <textarea
            rows={10}
            spellcheck={false}
            autoComplete="off"
            value={text}
            aria-invalid={read.kind === 'invalid'}
            aria-describedby="edit-problem"
            aria-keyshortcuts="Control+Enter"
            // oxlint-disable-next-line jsx-a11y/no-autofocus -- screen readers announce a modal dialog: the move of the focus is noticed
            autoFocus
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !isChanged) return;
              event.preventDefault();
              event.currentTarget.form?.requestSubmit();
            }}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <p id="edit-problem" class="problem" role="status">
          {read.kind === 'invalid' ? <Inert text={read.problem} /> : null}
        </p>
        <h3>What changes</h3>
        {read.kind === 'valid' ? (
          <Diff lines={diffLines(asked.kind === 'valid' ? asked.normal : approval.arguments.shown, read.normal)} />
        ) : null}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!isChanged}>
            Allow with these arguments
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const SIGN = { same: ' ', removed: '−', added: '+' } as const;
const SAID = { same: '', removed: 'removed: ', added: 'added: ' } as const;

function Diff({ lines }: { readonly lines: readonly DiffLine[] }): VNode {
  return (
    <pre class="code diff" tabIndex={0} role="region" aria-label="What changes">
      {lines.map(({ kind, text }, index) => (
        <span class={`diff-line diff-${kind}`} key={index}>
          <span aria-hidden="true">{SIGN[kind]} </span>
          <span class="visually-hidden">{SAID[kind]}</span>
          <Inert text={text} />
          {'\n'}
        </span>
      ))}
    </pre>
  );
}
