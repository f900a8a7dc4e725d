// The types of the API's answers, taken from its own schemas. Types only: no code of the gateway is part of the console.
// Import them from a *-schema file, never from a route: a route needs the types of Node, and browser code is checked without them.
export type { ApprovalState, Severity } from '../../src/domain/policy/approval.ts';
export type { OutcomeKind } from '../../src/domain/outcome/outcome.ts';
export type { Stage } from '../../src/domain/call/stages.ts';
export type {
  ApprovalView,
  ListedApprovalView,
  DecideAnswerView,
  DecideBody,
  ShownArguments,
} from '../../src/gateway/api/approval-schema.ts';
export type { CallDetail, CallRow, StageView } from '../../src/gateway/api/call-schema.ts';
export type { MeView as Me } from '../../src/gateway/api/token-schema.ts';
export type { CallFile, ContentBlockView, OutcomeView } from '../../src/gateway/api/outcome-schema.ts';
export type { ProblemView as ProblemBody } from '../../src/gateway/api/problem-schema.ts';

/** One page of a list. `next` is the cursor for the following page. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}
