import type { ApprovalDecision } from '../../domain/approval.ts';
import type { HookedTool } from '../../domain/hook.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { LoopSettings } from '../../domain/loop-settings.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Identity } from '../../domain/session.ts';
import type { Soon } from '../../domain/soon.ts';
import type { ValueSummary } from '../../domain/summarise-value.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';
import type { GateHooks, HookedCall } from '../../ports/gate-hooks.ts';
import type { Events } from '../../ports/events.ts';
import type { Log } from '../../ports/log.ts';
import type { MergedAsk } from '../approvals/merge-asks.ts';
import type { CallSpans } from './call-spans.ts';

/** What of a policy is about tools that run here, as it stands in a policy file. Everything else is refused and not ignored. */
export type GatePolicy = Partial<Pick<Policy, 'roles' | 'rules' | 'unmatched' | 'approvers' | 'loops' | 'unattended'>>;

/** What a tool says of itself, for loop detection and budgets. */
export type LoopFacts = Pick<ToolDeclaration, 'poll' | 'progress' | 'cost'>;

export interface GatedTool extends HookedTool, LoopFacts {
  readonly id: ToolDeclaration['id'];
  /** Of id, effect and description: an approval is for the tool as it was. */
  readonly digest: string;
}

/** A call of a wrapped tool. */
export interface GatedCall extends HookedCall {
  readonly tool: GatedTool;
  /** What events say of the input, as the caller sent it. */
  readonly parameters: ValueSummary;
  /** Absent where the host has no trace. */
  readonly spans?: CallSpans;
}

export interface GateParts {
  readonly hooks: GateHooks;
  readonly policy: Policy;
  /** Of the agent whose calls they are; undefined where nothing is watched. */
  readonly loops: LoopSettings | undefined;
  readonly approver?: GateApprover;
  readonly log: Log;
  /** Absent where nobody listens. */
  readonly events?: Events;
}

/** Whoever asks people. Two steps: a question has an id before anybody waits for its answer. */
export interface GateApprover {
  /** With `decision` it is answered already; `null` says that there is nobody to ask. */
  request(question: GateQuestion): Soon<GateReceipt>;
  /** Aborted when the call is stopped or the time is up: withdraw the question then. */
  wait(id: string, options: { readonly signal: AbortSignal }): Promise<GateAnswer>;
}

export interface GateReceipt {
  readonly id: string;
  readonly decision?: ApprovalDecision | null;
  readonly comment?: string;
}

export interface GateAnswer {
  /** Of the question that is answered. */
  readonly id: string;
  /** `null`: nobody decided in time. */
  readonly decision: ApprovalDecision | null;
  /** Why it was denied: for the model. */
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
  /** Those that run, or nothing does. */
  readonly arguments: JsonObject;
  /** SHA-256 of tool, arguments, session and askers. */
  readonly binding: string;
}
