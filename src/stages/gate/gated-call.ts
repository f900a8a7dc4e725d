import type { Envelope } from '../../domain/call/call.ts';
import type { ApprovalId, GrantId } from '../../domain/policy/approval.ts';
import type { ArgumentChange } from '../../domain/call/argument-change.ts';
import type { RunHistory } from '../../domain/call/attempt.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { Identity } from '../../domain/identity/session.ts';
import type { LoopVerdict } from '../../gate/loop/loop-verdict.ts';
import type { HooksVerdict } from '../../domain/ports/gate-hooks.ts';
import type { DeliveredCall, ServedTool } from '../../domain/ports/plane.ts';

/** A call as the gate sees it. */
export interface GatedCall {
  readonly admitted: DeliveredCall & { readonly policy: Policy; readonly now: number };
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  /** The arguments that are judged. They run as they are here, or as a hook or a person changes them. */
  readonly arguments: JsonObject;
  /** The same as canonical JSON. The text that the caller sent is in the envelope. */
  readonly canonical: string;
}

/** Why a call may run, and with which arguments. */
export interface GateFacts {
  /** Canonical JSON of the arguments that run, if they differ from the caller's. */
  readonly effective?: string;
  readonly changedBy?: readonly ArgumentChange[];
  /** For the model, next to the result. */
  readonly advice?: string;
  /** The detector that warned of a loop. */
  readonly detector?: string;
  /** The rule that allows the call by name. */
  readonly rule?: string;
  readonly grant?: GrantId;
  readonly approval?: ApprovalId;
}

/** A call that may run, with its arguments as hooks or a person left them. */
export interface Allowed<Call> {
  readonly kind: 'allowed';
  readonly call: Call;
  readonly facts: GateFacts;
  /** Absent when no hook answered and no loop was warned of: then `call` has all that is needed. */
  readonly basis?: GateBasis<Call> | undefined;
}

/** The basis for a second check under a newer policy: hooks and loop detection are not asked again. */
export interface GateBasis<Call> {
  /** The call before the hooks. */
  readonly call: Call;
  readonly history: RunHistory;
  readonly loop: LoopVerdict;
  readonly passed: Extract<HooksVerdict, { kind: 'passed' }>;
}

const NO_FACTS: GateFacts = Object.freeze({});

export function allow<Call>(call: Call, facts: GateFacts = NO_FACTS, basis?: GateBasis<Call>): Allowed<Call> {
  return { kind: 'allowed', call, facts, basis };
}
