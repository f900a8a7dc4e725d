import type { VNode } from 'preact';
import { splitHidden } from '../split-hidden.ts';

export interface InertProps {
  readonly text: string;
  /** Shows line breaks and tabs as such. Otherwise they are spelled out like all invisible characters. */
  readonly multiline?: boolean;
}

/** Shows untrusted text as text: nothing in it becomes an element, and invisible characters are spelled out. */
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

/** The end of an id. All ids of one subject begin alike, so only the end distinguishes them. */
export function ShortId({ text }: { readonly text: string }): VNode {
  return (
    <span class="mono" title={text}>
      <Inert text={text.length > 9 ? `…${text.slice(-8)}` : text} />
    </span>
  );
}

/** The beginning of an id or digest. The tooltip shows all of it. */
export function Short({ text, length = 12 }: { readonly text: string; readonly length?: number }): VNode {
  return (
    <span class="mono" title={text}>
      <Inert text={text.length > length + 1 ? `${text.slice(0, length)}…` : text} />
    </span>
  );
}
