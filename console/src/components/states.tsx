import type { ComponentChildren, VNode } from 'preact';
import { Problem } from '../api.ts';
import { Button } from './button.tsx';
import { Inert } from './inert.tsx';

export function Loading({ what = 'Loading' }: { readonly what?: string }): VNode {
  return (
    <p class="state state-loading" role="status">
      {what} …
    </p>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }): VNode {
  return (
    <div class="state state-empty">
      <p class="state-title">{title}</p>
      {children === undefined ? null : <div class="state-text">{children}</div>}
    </div>
  );
}

/** What went wrong, how to fix it, and a button to retry. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): VNode {
  const problem = error instanceof Problem ? error : undefined;
  return (
    <div class="state state-failure" role="alert">
      <p class="state-title">
        <Inert text={error instanceof Error ? error.message : 'Something went wrong.'} />
      </p>
      {problem?.fix === undefined ? null : (
        <p class="state-text">
          <Inert text={problem.fix} />
        </p>
      )}
      {problem === undefined ? null : (
        <p class="state-text mono">
          <Inert text={problem.code} />
        </p>
      )}
      {onRetry === undefined ? null : <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
