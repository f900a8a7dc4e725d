import type { ExplanationView, MatrixCell, MatrixPage } from '../../../../src/gateway/api/explain-schema.ts';

export type { MatrixCell, MatrixPage };
export type MatrixVerdict = MatrixCell['verdict'];
export type Explanation = ExplanationView;
export type CheckAnswer = Explanation['checks'][number];
/** One policy change that would help: a command to type, or what the policy must contain. */
export type ShownChange = Explanation['changes'][number];

/** All verdicts, from `allow` to `deny`, in the order of the legend. */
export const VERDICTS: readonly MatrixVerdict[] = ['allow', 'ask', 'depends', 'deny'];

export interface Asked {
  readonly tenant?: string;
  readonly subject: string;
  readonly agent: string;
  readonly tool: string;
  readonly arguments?: unknown;
}
