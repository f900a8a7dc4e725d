import type { ExplanationView, MatrixCell, MatrixPage } from '../../../../src/gateway/api/explain-schema.ts';

export type { MatrixCell, MatrixPage };
export type MatrixVerdict = MatrixCell['verdict'];
export type Explanation = ExplanationView;
export type CheckAnswer = Explanation['checks'][number];
/** One change of the policy that helps: a command to type, or what the policy must hold. */
export type ShownChange = Explanation['changes'][number];

/** From yes to no, as legends list them. */
export const VERDICTS: readonly MatrixVerdict[] = ['allow', 'ask', 'depends', 'deny'];

export interface Asked {
  readonly tenant?: string;
  readonly subject: string;
  readonly agent: string;
  readonly tool: string;
  readonly arguments?: unknown;
}
