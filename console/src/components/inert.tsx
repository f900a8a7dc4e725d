import type { VNode } from 'preact';
import { splitHidden } from '../split-hidden.ts';

export interface InertProps {
  readonly text: string;
  /** Line breaks and tabs are shown as such; otherwise spelled out like everything one cannot see. */
  readonly multiline?: boolean;
}

/** Text that others wrote, shown as text: nothing in it becomes an element, and what cannot be seen is spelled out. */
export function Inert({ text, multiline = false }: InertProps): VNode {
  return (
    <bdi class="inert" dir="ltr">
      {splitHidden(text, multiline).map((part, index) =>
        part.kind === 'plain' ? (
          part.text
        ) : (
          <span class="hidden-mark" key={index}>
            {part.text}
          </span>
        ),
      )}
    </bdi>
  );
}

/** The end of an id, which tells it from others: all ids of one subject begin alike. */
export function ShortId({ text }: { readonly text: string }): VNode {
  return (
    <span class="mono" title={text}>
      <Inert text={text.length > 9 ? `…${text.slice(-8)}` : text} />
    </span>
  );
}

/** An id or digest: its beginning, and the whole of it on demand. */
export function Short({ text, length = 12 }: { readonly text: string; readonly length?: number }): VNode {
  return (
    <span class="mono" title={text}>
      <Inert text={text.length > length + 1 ? `${text.slice(0, length)}…` : text} />
    </span>
  );
}
