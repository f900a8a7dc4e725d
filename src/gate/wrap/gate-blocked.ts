import type { Executed, Outcome, OutcomeKind } from '../../domain/outcome.ts';
import { textWithAdvice } from './add-advice.ts';

/** A call that may not run, or whose result may not be given on: how it ends, and the hook or rule that decided. */
export interface Refusal {
  readonly outcome: Outcome;
  readonly by?: string;
  /** The hook that failed or timed out. For events only: the error does not say it. */
  readonly failedHook?: string;
}

/**
 * A call that the gate did not let through, or whose result it withheld (`executed`). Its message is the reason, for the model, and ends
 * with the advice of loop detection where there is any: frameworks show the model the message alone.
 */
export class GateBlocked extends Error {
  override readonly name = 'GateBlocked';
  /** As in `docs/errors.md`. */
  readonly code: string;
  readonly kind: Extract<OutcomeKind, 'blocked' | 'denied' | 'invalid' | 'cancelled' | 'failed'>;
  /** `no`: the tool's code was not entered. `yes`: it ran, and its result is withheld. */
  readonly executed: Executed;
  readonly tool: string;
  readonly callId: string;
  readonly by: string | undefined;
  /** What loop detection advises, where it warned of the call. A call that it blocked has its advice as the message. */
  readonly advice: string | undefined;

  constructor({ outcome, by }: Refusal, call: { readonly tool: string; readonly callId: string }) {
    const { error, advice } = outcome;
    super(advice === undefined ? error!.message : textWithAdvice(error!.message, advice));
    this.code = outcome.error!.code;
    this.kind = outcome.kind as GateBlocked['kind'];
    this.executed = outcome.executed;
    this.by = by;
    this.advice = advice;
    this.tool = call.tool;
    this.callId = call.callId;
  }
}
