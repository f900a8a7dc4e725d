import type { VNode } from 'preact';
import { Inert } from './inert.tsx';
import './table.css';

/** The name of something in a table, on one line if there is room. */
export function Name({ text, mono = false }: { readonly text: string; readonly mono?: boolean }): VNode {
  return (
    <span class={mono ? 'name mono' : 'name'}>
      <Inert text={text} />
    </span>
  );
}
