import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly wide?: boolean;
}

/** A modal dialog. The focus stays in it, Escape closes it, and afterwards the focus returns to the element that had it before. */
export function Dialog({ title, children, onClose, wide = false }: DialogProps): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect opens the dialog before the next key arrives, so that everything that is typed after the opening key goes to the
  // dialog.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={wide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-box">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <Button kind="quiet" label="Close" onClick={onClose}>
            ✕
          </Button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
