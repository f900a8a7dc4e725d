import type { ApprovalDecision } from '../../domain/policy/approval.ts';
import type { HookedTool } from '../../domain/policy/hook.ts';
import type { JsonObject } from '../../base/json.ts';
import type { LoopSettings } from '../../domain/policy/loop-settings.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { Identity } from '../../domain/identity/session.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ValueSummary } from '../../domain/events/summarise-value.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import type { GateHooks, HookedCall } from '../../domain/ports/gate-hooks.ts';
import type { Events } from '../../domain/ports/events.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { MergedAsk } from '../approvals/merge-asks.ts';
import type { CallSpans } from './call-spans.ts';

/** The parts of a policy that apply to tools in this process, as they are written in a policy file. Other parts are rejected, not ignored. */
export type GatePolicy = Partial<Pick<Policy, 'roles' | 'rules' | 'unmatched' | 'approvers' | 'loops' | 'unattended'>>;

/** What a tool declares about itself, for loop detection and budgets. */
export type LoopFacts = Pick<ToolDeclaration, 'poll' | 'progress' | 'cost'>;

export interface GatedTool extends HookedTool, LoopFacts {
  readonly id: ToolDeclaration['id'];
  /** Digest of id, effect, privilege and description. An approval is only for the tool as it was shown. */
  readonly digest: string;
}

/** A call of a wrapped tool. */
export interface GatedCall extends HookedCall {
  readonly tool: GatedTool;
  /** Summary of the input for events, as the caller sent it. */
  readonly parameters: ValueSummary;
  /** Absent if the host has no trace. */
  readonly spans?: CallSpans;
}

export interface GateParts {
  readonly hooks: GateHooks;
  readonly policy: Policy;
  /** The loop settings of the calling agent; undefined if neither loops nor budgets are checked. */
  readonly loops: LoopSettings | undefined;
  readonly approver?: GateApprover;
  readonly log: Log;
  /** Absent if there is no listener. */
  readonly events?: Events;
}

/** Asks people. It has two steps, so that a question has an id before the gate waits for its answer. */
export interface GateApprover {
  /** Asks a question. If the receipt has a `decision`, it is already answered; `null` means that there is no approver to ask. */
  request(question: GateQuestion): MaybePromise<GateReceipt>;
  /** Waits for the decision. The signal is aborted when the call is stopped or the question times out: withdraw the question then. */
  wait(id: string, options: { readonly signal: AbortSignal }): Promise<GateAnswer>;
}

export interface GateReceipt {
  readonly id: string;
  readonly decision?: ApprovalDecision | null;
  readonly comment?: string;
}

export interface GateAnswer {
  /** Id of the question that is answered. */
  readonly id: string;
  /** `null`: no approver decided in time. */
  readonly decision: ApprovalDecision | null;
  /** Why it was denied, written for the model. */
  readonly comment?: string;
}

/** One question about one exact call. Frozen. */
export interface GateQuestion extends MergedAsk {
  readonly callId: string;
  readonly tool: string;
  readonly toolDigest: string;
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  /** Exactly these arguments run, or nothing runs. */
  readonly arguments: JsonObject;
  /** SHA-256 of tool, tool digest, arguments, session and askers. */
  readonly binding: string;
}
