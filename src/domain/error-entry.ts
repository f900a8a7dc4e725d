import type { JsonObject } from './json.ts';
import type { OutcomeKind } from './outcome.ts';
import type { Stage } from './stages.ts';

/** Who has to act, and whether sending the same thing again can help. */
export type Retry = 'never' | 'same-call' | 'after-a-while' | 'after-the-fix';

export interface ErrorEntry<Facts extends JsonObject> {
  readonly stage: Stage | 'operate';
  /** The outcome it ends a call with; absent for errors of the plane itself, which are thrown. */
  readonly kind?: OutcomeKind;
  readonly retry: Retry;
  readonly say: (facts: Facts) => string;
  readonly fix?: string;
}

/** Checks one entry and keeps the type of its facts. */
export function entry<Facts extends JsonObject>(definition: ErrorEntry<Facts>): ErrorEntry<Facts> {
  return definition;
}
