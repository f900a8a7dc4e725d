import type { JsonObject } from '../../base/json.ts';
import type { OutcomeKind } from '../outcome/outcome.ts';
import type { Stage } from '../call/stages.ts';

/** Whether sending the same call again can help, and whether time must pass or a person must fix something first. */
export type Retry = 'never' | 'same-call' | 'after-a-while' | 'after-the-fix';

export interface ErrorEntry<Facts extends JsonObject> {
  readonly stage: Stage | 'operate';
  /** The kind of outcome that the error ends a call with; absent for errors of the plane itself, which are thrown. */
  readonly kind?: OutcomeKind;
  readonly retry: Retry;
  readonly say: (facts: Facts) => string;
  /** May name facts of the error, such as `<hook>`. `<id>` is the id of the call, which only the reader of the outcome knows. */
  readonly fix?: string;
}

/** Checks the type of one entry and keeps the type of its facts. */
export function entry<Facts extends JsonObject>(definition: ErrorEntry<Facts>): ErrorEntry<Facts> {
  return definition;
}

/** The problems as the end of a sentence. A problem may end with a question, such as `did you mean roles?`. */
export function sentenceOf(problems: readonly string[]): string {
  const text = problems.join('; ');
  return /[.?]$/.test(text) ? text : `${text}.`;
}
