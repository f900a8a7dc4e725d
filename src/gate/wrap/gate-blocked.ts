import type { Executed, Outcome, OutcomeKind } from '../../domain/outcome.ts';

/** A call that may not run, or whose result may not be given on: how it ends, and the hook or rule that decided. */
export interface Refusal {
  readonly outcome: Outcome;
  readonly by?: string;
  /** The hook that failed or timed out. For events only: the error does not say it. */
  readonly failedHook?: string;
}

/** A call that the gate did not let through, or whose result it withheld (`executed`). Its message is the reason, for the model. */
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

  constructor({ outcome, by }: Refusal, call: { readonly tool: string; readonly callId: string }) {
    super(outcome.error!.message);
    this.code = outcome.error!.code;
    this.kind = outcome.kind as GateBlocked['kind'];
    this.executed = outcome.executed;
    this.by = by;
    this.tool = call.tool;
    this.callId = call.callId;
  }
}
