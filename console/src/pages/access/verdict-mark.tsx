import type { VNode } from 'preact';
import type { MatrixVerdict } from './access-types.ts';

const SIGNS: Readonly<Record<MatrixVerdict, string>> = { allow: '✓', ask: '?', depends: '≈', deny: '✕' };

/** What each verdict means, for the legend. */
export const MEANINGS: Readonly<Record<MatrixVerdict, string>> = {
  allow: 'runs',
  ask: 'runs once a person has allowed it',
  depends: 'the arguments decide',
  deny: 'does not run',
};

/** A sign and a word; the colour only repeats them. */
export function VerdictMark({ verdict }: { readonly verdict: MatrixVerdict }): VNode {
  return (
    <span class={`verdict verdict-${verdict}`}>
      <span class="verdict-sign" aria-hidden="true">
        {SIGNS[verdict] ?? '·'}
      </span>{' '}
      {verdict}
    </span>
  );
}
