import type { Envelope } from '../../domain/call.ts';
import type { ApprovalId, GrantId } from '../../domain/approval.ts';
import type { ArgumentChange } from '../../domain/argument-change.ts';
import type { RunHistory } from '../../domain/attempt.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Identity } from '../../domain/session.ts';
import type { LoopVerdict } from '../../gate/loop/loop-verdict.ts';
import type { HooksVerdict } from '../../ports/gate-hooks.ts';
import type { DeliveredCall, ServedTool } from '../../ports/plane.ts';

/** What the gate looks at. */
export interface GatedCall {
  readonly claimed: DeliveredCall & { readonly policy: Policy; readonly now: number };
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  /** Judged as they are: what runs is this, or what a hook or a person makes of it. */
  readonly arguments: JsonObject;
  /** The same as canonical JSON. The caller's own is in the envelope. */
  readonly canonical: string;
}

/** Why a call may run, and as what. */
export interface GateFacts {
  /** Canonical JSON of the arguments that run, where these are not the caller's. */
  readonly effective?: string;
  readonly changedBy?: readonly ArgumentChange[];
  /** For the model, beside the result. */
  readonly advice?: string;
  /** What warned of a loop. */
  readonly detector?: string;
  /** Rules that allow it by name. */
  readonly rule?: string;
  readonly grant?: GrantId;
  readonly approval?: ApprovalId;
}

/** The call as it may run: with the arguments that hooks or a person made of the caller's. */
export interface Allowed<Call> {
  readonly kind: 'allowed';
  readonly call: Call;
  readonly facts: GateFacts;
  /** Absent when no hook answered and no loop was warned of: then the call itself says it all. */
  readonly basis?: GateBasis<Call> | undefined;
}

/** What a second look under a newer policy starts from: hooks and loop detection are not asked again. */
export interface GateBasis<Call> {
  /** As it was before the hooks. */
  readonly call: Call;
  readonly history: RunHistory;
  readonly loop: LoopVerdict;
  readonly passed: Extract<HooksVerdict, { kind: 'passed' }>;
}

const NO_FACTS: GateFacts = Object.freeze({});

export function allow<Call>(call: Call, facts: GateFacts = NO_FACTS, basis?: GateBasis<Call>): Allowed<Call> {
  return { kind: 'allowed', call, facts, basis };
}
