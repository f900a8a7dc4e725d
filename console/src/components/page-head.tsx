import type { ComponentChildren, VNode } from 'preact';

export interface PageHeadProps {
  readonly title: ComponentChildren;
  /** Buttons and counts at the end of the line. */
  readonly children?: ComponentChildren;
}

export function PageHead({ title, children }: PageHeadProps): VNode {
  return (
    <header class="page-head">
      <h1>{title}</h1>
      {children === undefined ? null : <div class="page-actions">{children}</div>}
    </header>
  );
}
