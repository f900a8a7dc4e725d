import type { VNode } from 'preact';
import { CodeBlock } from '../../components/code-block.tsx';
import type { GrantMatches } from './describe-grant.ts';

/** Which arguments a grant covers. */
export function GrantMatch({ matches }: { readonly matches: GrantMatches }): VNode {
  if (matches.kind === 'any') return <span>any arguments</span>;
  if (matches.kind === 'exact') return <span>exactly the approved arguments</span>;
  return (
    <details class="grant-conditions">
      <summary>arguments that meet conditions</summary>
      <CodeBlock label="Conditions" text={JSON.stringify(matches.conditions, null, 2)} />
    </details>
  );
}
