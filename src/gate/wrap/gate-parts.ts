import type { ApprovalDecision } from '../../domain/approval.ts';
import type { Attempt, RunHistory, RunState } from '../../domain/attempt.ts';
import type { Ask, HookedTool } from '../../domain/hook.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Identity } from '../../domain/session.ts';
import type { Soon } from '../../domain/soon.ts';
import type { MergedAsk } from '../hooks/merge-asks.ts';

/** Rules without code. The strictest of those that match counts. */
export interface GateRules {
  decide(call: { readonly tool: HookedTool; readonly identity: Identity; readonly arguments: JsonObject }): RuleAnswer;
}

export type RuleAnswer =
  | { readonly verdict: 'allow' }
  | { readonly verdict: 'ask'; readonly asks: readonly Ask[] }
  | { readonly verdict: 'deny'; readonly rule: string; readonly reason: string };

/** Loop detection: a pure function of what the run has done so far. The gate remembers that, for this process. */
export interface GateLoops {
  judge(question: LoopQuestion): LoopAnswer;
  /** What is remembered of a call that has ended. */
  endOf(outcome: Outcome, tool: GatedTool): Pick<Attempt, 'ending' | 'result'>;
  /** Millionths of the unit in which tools state their cost. */
  costOf?(outcome: Outcome, tool: GatedTool): number;
}

export interface GatedTool extends HookedTool {
  /** The object that was wrapped: what it says of cadence, progress and cost is read from it. */
  readonly definition: object;
}

export interface LoopQuestion {
  readonly history: RunHistory;
  readonly run: RunState;
  readonly attempt: Pick<Attempt, 'tool' | 'raw' | 'effective' | 'at'>;
  readonly tool: GatedTool;
  readonly identity: Identity;
}

export type LoopAnswer =
  | { readonly kind: 'pass' }
  /** For the model, beside the result. */
  | { readonly kind: 'warn'; readonly message: string }
  | { readonly kind: 'block'; readonly code: string; readonly message: string; readonly facts?: JsonObject };

/** Whoever asks people. Two steps: a question has an id before anybody waits for its answer. */
export interface GateApprover {
  /** With `decision` it is answered already; `null` says that there is nobody to ask. */
  request(question: GateQuestion): Soon<{ readonly id: string; readonly decision?: ApprovalDecision | null }>;
  /** `null`: nobody decided in time. Aborted when the call is stopped or the time is up: withdraw the question then. */
  wait(
    id: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly id: string; readonly decision: ApprovalDecision | null }>;
}

/** One question about one exact call. Frozen. */
export interface GateQuestion extends MergedAsk {
  readonly callId: string;
  readonly tool: string;
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  /** Those that run, or nothing does. */
  readonly arguments: JsonObject;
  /** SHA-256 of tool, arguments, session and askers. */
  readonly binding: string;
}
