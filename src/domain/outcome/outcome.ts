import type { ContentBlock, WriteBacks } from './content.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';

export const OUTCOME_KINDS = [
  'ok',
  'failed',
  'exception',
  'denied',
  'blocked',
  'invalid',
  'unknown-tool',
  'stale',
  'unauthenticated',
  'conflict',
  'overloaded',
  'expired',
  'timed-out',
  'cancelled',
  'crashed',
  'indeterminate',
] as const;
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

/** Whether the tool's own code ran. `unknown`: it may have run. */
export type Executed = 'no' | 'yes' | 'unknown';

/** The one final answer to a call. It names neither the call nor a waiter, so that every waiter reads the same bytes. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly executed: Executed;
  /** True if the same call may be sent again and could end better. */
  readonly retryable: boolean;
  readonly content: readonly ContentBlock[];
  readonly structured?: JsonValue;
  readonly writeBacks?: WriteBacks;
  readonly error?: OutcomeError;
  /**
   * The advice of loop detection for the model: what this call repeats and what to do instead. Present if loop detection warned. If it
   * blocked the call, `error.message` states the same.
   */
  readonly advice?: string;
}

/** The outcome with the advice of loop detection; the same object if there is no advice. */
export function withAdvice(outcome: Outcome, advice: string | undefined): Outcome {
  return advice === undefined ? outcome : { ...outcome, advice };
}

export interface OutcomeError {
  /** Stable error code, a key of the table `ERRORS`. */
  readonly code: string;
  /** A sentence the model can act on. Never a stack, a path or a secret. */
  readonly message: string;
  /** What the operator or developer can change. */
  readonly fix?: string;
  /** The facts behind the message, e.g. the current digest of a stale tool. */
  readonly facts?: JsonObject;
}

/** Kinds of outcome of a call that did not run and that the caller is asked to repeat. Its key becomes free for a new call. */
const KEY_RELEASING_KINDS: readonly OutcomeKind[] = ['stale', 'unauthenticated', 'overloaded'];

export function releasesKey(kind: OutcomeKind): boolean {
  return KEY_RELEASING_KINDS.includes(kind);
}
