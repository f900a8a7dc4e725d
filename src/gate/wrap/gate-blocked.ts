import type { JsonObject } from '../../domain/json.ts';
import type { Outcome, OutcomeKind } from '../../domain/outcome.ts';

export interface Refusal {
  /** As in `docs/errors.md`. */
  readonly code: string;
  readonly kind: Extract<OutcomeKind, 'blocked' | 'denied' | 'invalid' | 'cancelled'>;
  /** A sentence for the model. */
  readonly reason: string;
  /** The hook or rule that decided. */
  readonly by?: string;
  readonly facts?: JsonObject;
}

/** A call that the gate did not let through: the tool's code was not entered. Its message is the reason, for the model. */
export class GateBlocked extends Error {
  override readonly name = 'GateBlocked';
  readonly code: string;
  readonly kind: Refusal['kind'];
  readonly tool: string;
  readonly callId: string;
  readonly by: string | undefined;

  constructor(refusal: Refusal, call: { readonly tool: string; readonly callId: string }) {
    super(refusal.reason);
    this.code = refusal.code;
    this.kind = refusal.kind;
    this.by = refusal.by;
    this.tool = call.tool;
    this.callId = call.callId;
  }
}

export function refusalOutcome({ code, kind, reason, facts }: Refusal): Outcome {
  return {
    kind,
    executed: 'no',
    retryable: false,
    content: [{ kind: 'text', text: reason }],
    error: { code, message: reason, ...(facts === undefined ? {} : { facts }) },
  };
}
