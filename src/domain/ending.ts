import type { Outcome } from './outcome.ts';

/** What the gate says of a call that it refused. The outcome goes to the model, and must not name a check that failed. */
export interface RefusedBy {
  /** For the model: loop detection warned of the call before another check refused it. */
  readonly advice?: string;
  /** What warned of a loop. */
  readonly detector?: string;
  /** The hook that blocked the call, failed or timed out. */
  readonly hook?: string;
  /** The rules and hooks that wanted a person to be asked, where no question was stored. */
  readonly askers?: readonly string[];
}

/** What the operator's result hooks did to a result. For the audit and the loop history. */
export interface ReviewedResult {
  /** What the tool itself gave, without secrets. */
  readonly own: Outcome;
  readonly changedBy?: readonly string[];
  /** The hook that failed, so that the result is withheld. */
  readonly withheldBy?: string;
}

/** A stage that ends a call says how. Settle takes it from there. */
export type Ending =
  | {
      readonly kind: 'ended';
      readonly outcome: Outcome;
      readonly refusedBy?: RefusedBy;
      readonly reviewed?: ReviewedResult;
    }
  /** Somebody else owns the call now: nothing is to be done. */
  | { readonly kind: 'lost' }
  /** Given back to the queue for a worker that can serve it. */
  | { readonly kind: 'handed-back' }
  /** A person is asked about it. No worker holds it until they decide. */
  | { readonly kind: 'parked' };

export function ended(outcome: Outcome, refusedBy?: RefusedBy): Ending {
  return refusedBy === undefined ? { kind: 'ended', outcome } : { kind: 'ended', outcome, refusedBy };
}

const ENDINGS: readonly string[] = ['ended', 'lost', 'handed-back', 'parked'];

export function isEnding<Value extends { readonly kind: string }>(value: Value | Ending): value is Ending {
  return ENDINGS.includes(value.kind);
}
