import type { Outcome } from './outcome.ts';

/** A stage that ends a call says how. Settle takes it from there. */
export type Ending =
  | { readonly kind: 'ended'; readonly outcome: Outcome }
  /** Somebody else owns the call now: nothing is to be done. */
  | { readonly kind: 'lost' }
  /** Given back to the queue for a worker that can serve it. */
  | { readonly kind: 'handed-back' }
  /** A person is asked about it. No worker holds it until they decide. */
  | { readonly kind: 'parked' };

export function ended(outcome: Outcome): Ending {
  return { kind: 'ended', outcome };
}

const ENDINGS: readonly string[] = ['ended', 'lost', 'handed-back', 'parked'];

export function isEnding<Value extends { readonly kind: string }>(value: Value | Ending): value is Ending {
  return ENDINGS.includes(value.kind);
}
