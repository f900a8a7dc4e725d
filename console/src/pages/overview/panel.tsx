import type { ComponentChildren, VNode } from 'preact';
import { useId } from 'preact/hooks';

export interface PanelProps {
  readonly title: string;
  /** Undefined while the count is not known. */
  readonly count?: number | undefined;
  /** The link to the full list. */
  readonly href: string;
  readonly all: string;
  readonly children: ComponentChildren;
}

export function Panel({ title, count, href, all, children }: PanelProps): VNode {
  const id = useId();
  return (
    <section class="panel card" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>
          {title}
          {count === undefined ? null : <span class="panel-count">{count}</span>}
        </h2>
        <a href={href}>{all}</a>
      </header>
      {children}
    </section>
  );
}
