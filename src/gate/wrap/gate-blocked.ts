import type { Executed, Outcome, OutcomeKind } from '../../domain/outcome/outcome.ts';
import { textWithAdvice } from './add-advice.ts';

/** A call that may not run, or whose result may not be passed on: its outcome, and the hook or rule that decided. */
export interface Refusal {
  readonly outcome: Outcome;
  readonly by?: string;
  /** The hook that failed or timed out. Only for events: the error does not name it. */
  readonly failedHook?: string;
}

/**
 * Thrown for a call that the gate did not let through, or whose result it withheld (see `executed`). The message is the reason, written for
 * the model. It ends with the advice of loop detection, if there is any, because frameworks show the model only the message.
 */
export class GateBlocked extends Error {
  override readonly name = 'GateBlocked';
  /** Error code, as in `docs/errors.md`. */
  readonly code: string;
  readonly kind: Extract<OutcomeKind, 'blocked' | 'denied' | 'invalid' | 'cancelled' | 'failed'>;
  /** `no`: the tool's code was not started. `yes`: it ran, and its result is withheld. */
  readonly executed: Executed;
  readonly tool: string;
  readonly callId: string;
  readonly by: string | undefined;
  /** The advice, if loop detection warned about the call. A call that loop detection blocked has the advice as its message. */
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
