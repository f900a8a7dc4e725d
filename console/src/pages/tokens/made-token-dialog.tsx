import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { MadeToken } from '../../../../src/gateway/api/token-schema.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Inert } from '../../components/inert.tsx';

/** Shows the secret of a new token. This is the only time: after the dialog is closed, the page keeps no copy. */
export function MadeTokenDialog({ made, onClose }: { readonly made: MadeToken; readonly onClose: () => void }): VNode {
  const [copied, setCopied] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(made.text);
      setCopied('Copied.');
    } catch {
      setCopied('The browser does not copy here: select the text.');
    }
  };
  return (
    <Dialog title="Copy this token now" onClose={onClose}>
      <p>
        <Inert text={made.token.name} />: it is shown this once. Whoever has it can use it.
      </p>
      <label class="field">
        Token
        <textarea
          class="token-text"
          rows={3}
          readOnly
          value={made.text}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      </label>
      <div class="dialog-actions">
        <span class="hint" role="status">
          {copied}
        </span>
        <Button onClick={() => void copy()}>Copy</Button>
        <Button kind="primary" onClick={onClose}>
          I have it
        </Button>
      </div>
    </Dialog>
  );
}
