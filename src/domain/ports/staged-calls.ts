import type { ArgumentChange } from '../call/argument-change.ts';
import type { RunHistory } from '../call/attempt.ts';
import type { Envelope } from '../call/call.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Identity } from '../identity/session.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { ApprovalId, GrantId } from '../policy/approval.ts';
import type { LoopVerdict } from '../policy/loop-verdict.ts';
import type { Policy } from '../policy/policy.ts';
import type { SettleAnswer } from './call-requests.ts';
import type { HooksVerdict } from './gate-hooks.ts';
import type { DeliveredCall, ServedTool } from './plane.ts';

/*
 * A call after each stage of the worker. The output of a stage is the input of the next one:
 * DeliveredCall → admit → AdmittedCall → identify → IdentifiedCall → gate → AllowedCall → execute → Ending → settle → SettledCall.
 * A stage that ends the call returns an `Ending` instead.
 */

/** A delivery this worker owns, with a live session and the current policy. */
export interface AdmittedCall extends DeliveredCall {
  readonly kind: 'admitted';
  readonly policy: Policy;
  readonly policyVersion: number;
  /** Store time: the lane's time at the delivery, advanced by the monotonic clock since. */
  readonly now: number;
  /** The store confirmed session, lease, cancellation and policy at this time or later, on this process's monotonic clock. */
  readonly checkedAt: number;
}

/** A call whose caller, tool and arguments were checked. */
export interface IdentifiedCall {
  readonly kind: 'identified';
  readonly admitted: AdmittedCall;
  readonly envelope: Envelope;
  readonly identity: Identity;
  readonly tool: ServedTool;
  /**
   * The arguments with the defaults of the published schema filled in. For a tool that normalises: the arguments as its schema returned
   * them. The tool runs with these, unless a hook or a person changes them.
   */
  readonly arguments: JsonObject;
  /** The arguments as canonical JSON. The text that the caller sent is in the envelope. */
  readonly canonical: string;
  /** The permission entry of the policy that allowed the call, such as `files.*`. */
  readonly permission: string;
}

/** A call that may run, with its arguments as hooks or a person left them. */
export interface AllowedCall {
  readonly kind: 'allowed';
  readonly call: IdentifiedCall;
  readonly facts: GateFacts;
  /**
   * Needed to check the call again under a newer policy. Absent if no hooks are configured and loop detection gave no warning, and after an
   * approval: then `call` is enough.
   */
  readonly basis?: GateBasis | undefined;
}

/** Why a call may run, and with which arguments. */
export interface GateFacts {
  /** Canonical JSON of the arguments that run, if they differ from the caller's. */
  readonly effective?: string;
  readonly changedBy?: readonly ArgumentChange[];
  /** The advice of loop detection, which the model gets next to the result. */
  readonly advice?: string;
  /** The detector that warned of a loop. */
  readonly detector?: string;
  /** Id of the rule that decided: it allowed the call, or it asked and a grant answered. Absent: no rule matched. */
  readonly rule?: string;
  readonly grant?: GrantId;
  readonly approval?: ApprovalId;
}

/** Results that a second check under a newer policy uses again: hooks and loop detection are not asked a second time. */
export interface GateBasis {
  /** The call before the hooks. */
  readonly call: IdentifiedCall;
  readonly history: RunHistory;
  readonly loop: LoopVerdict;
  readonly passed: Extract<HooksVerdict, { kind: 'passed' }>;
}

/**
 * What the stages have found out about a call. `runClaimed` adds to it while the call passes the stages. The settle stage makes the audit
 * record from it, also for a call that ended early.
 */
export interface PassedStages {
  readonly delivered: DeliveredCall;
  identified?: IdentifiedCall;
  /** Present once the gate allowed the call, even if the call was stopped before its tool started. */
  permit?: { readonly verdict: AllowedCall; readonly policyVersion: number };
  /** Milliseconds from the delivery to this worker until the end of the gate. */
  gateMs?: number;
  isAllowed?: true;
}

/** A call with its outcome, and the store's answer to settling it. */
export interface SettledCall {
  readonly delivered: DeliveredCall;
  readonly outcome: Outcome;
  readonly answer: SettleAnswer;
  readonly durationMs: number;
}
