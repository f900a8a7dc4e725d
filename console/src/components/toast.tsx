import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { Button } from './button.tsx';
import { Inert } from './inert.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const SHOWN_MS = 6000;
const MAX = 4;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

const drop = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** Shows a message without taking the focus. A bad message stays until the person dismisses it. */
export function showToast(text: string, tone: Toast['tone'] = 'good'): void {
  count += 1;
  const id = count;
  toasts.value = [...toasts.value, { id, text, tone }].slice(-MAX);
  if (tone === 'good') setTimeout(() => drop(id), SHOWN_MS);
}

export function Toasts(): VNode {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div class={`toast toast-${tone}`} key={id}>
          <Inert text={text} multiline />
          <Button kind="quiet" label="Dismiss" onClick={() => drop(id)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  );
}
