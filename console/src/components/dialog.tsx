import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

export interface DialogProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly wide?: boolean;
}

/** A modal question. The browser keeps the focus in it, closes it on Escape and gives the focus back. */
export function Dialog({ title, children, onClose, wide = false }: DialogProps): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key arrives: what is typed after the key that opened it belongs into it.
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
