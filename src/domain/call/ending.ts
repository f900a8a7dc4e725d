import type { Outcome } from '../outcome/outcome.ts';

/**
 * What the gate reports about a call that it refused. It is kept apart from the outcome: the outcome goes to the model and must not name a
 * check that failed.
 */
export interface RefusedBy {
  /** Advice for the model; present if loop detection warned about the call before another check refused it. */
  readonly advice?: string;
  /** The detector that warned about a loop. */
  readonly detector?: string;
  /** The hook that blocked the call, failed or timed out. */
  readonly hook?: string;
  /** The rules and hooks that wanted a person to be asked; present where no question was stored. */
  readonly askers?: readonly string[];
}

/** What the operator's result hooks did to a result. For the audit and the loop history. */
export interface ReviewedResult {
  /** The tool's own result, without secrets. */
  readonly own: Outcome;
  readonly changedBy?: readonly string[];
  /** The hook that failed, which is why the result is withheld. */
  readonly withheldBy?: string;
}

/**
 * How the stages ended their work on a call. A call that is `ended` is settled with its outcome; for the other kinds this worker does
 * nothing more.
 */
export type Ending =
  | {
      readonly kind: 'ended';
      readonly outcome: Outcome;
      readonly refusedBy?: RefusedBy;
      readonly reviewed?: ReviewedResult;
    }
  /** Another worker owns the call now, so there is nothing left to do. */
  | { readonly kind: 'lost' }
  /** The call was returned to the queue for a worker that can serve it. */
  | { readonly kind: 'handed-back' }
  /** A person is asked about the call. No worker holds it until they decide. */
  | { readonly kind: 'parked' };

export function ended(outcome: Outcome, refusedBy?: RefusedBy): Ending {
  return refusedBy === undefined ? { kind: 'ended', outcome } : { kind: 'ended', outcome, refusedBy };
}

const ENDINGS: readonly string[] = ['ended', 'lost', 'handed-back', 'parked'];

export function isEnding<Value extends { readonly kind: string }>(value: Value | Ending): value is Ending {
  return ENDINGS.includes(value.kind);
}
