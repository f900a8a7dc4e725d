import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './states.tsx';

export interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The label of the button: the action itself, not "OK". */
  readonly act: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for confirmation before an action that affects other people. If the action fails, the dialog stays open and shows the error. */
export function Confirm({ title, children, act, onConfirm, onClose }: ConfirmProps): VNode {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      {error === undefined ? null : <Failure error={error} />}
      <div class="dialog-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" disabled={isBusy} onClick={() => void confirm()}>
          {act}
        </Button>
      </div>
    </Dialog>
  );
}
