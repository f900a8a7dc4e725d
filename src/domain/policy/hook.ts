import type { ApprovalDecision, Asker, Resolution, Severity } from './approval.ts';
import type { ArgumentChange } from '../call/argument-change.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Executed, OutcomeError, OutcomeKind } from '../outcome/outcome.ts';
import type { AskOptions } from './rule.ts';
import type { Identity } from '../identity/session.ts';
import type { Effect } from '../tool/tool.ts';

/** The events at which an operator's own code is asked or notified about a call. */
export const HOOK_EVENTS = ['before_tool_call', 'tool_result', 'after_tool_call', 'approval_resolved'] as const;
export type HookEventName = (typeof HOOK_EVENTS)[number];

export const DEFAULT_HOOK_TIMEOUT_MS = 15_000;
export const MAX_HOOK_TIMEOUT_MS = 600_000;
export const MAX_HOOK_PRIORITY = 1_000_000;

/** The facts of a tool that decide whether a hook applies to it. */
export interface HookedTool {
  readonly id: string;
  readonly effect: Effect;
  readonly privileged: boolean;
}

/** Which calls a hook applies to. A field that is absent matches all calls; the fields that are present must all match. */
export interface HookMatch {
  /** `module.tool`, `module.*` or `*`. */
  readonly tools?: readonly string[];
  readonly effects?: readonly Effect[];
}

/** Facts about a call and its caller, the same in every event about the call. */
export interface HookedCallFacts {
  /** Id of the call. It links the events before the call, after the call and about its approval. */
  readonly callId: string;
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  /** The call whose tool made this call. */
  readonly parent?: string;
  /** W3C `traceparent` of the call. */
  readonly trace?: string;
  /** Unproven claims of the caller. Do not base a decision on them. */
  readonly untrusted?: JsonObject;
}

/** `before_tool_call`: each hook gets a frozen copy, with the arguments as the hook before it left them. */
export interface BeforeToolCall extends HookedCallFacts {
  readonly tool: string;
  readonly effect: Effect;
  readonly privileged: boolean;
  readonly arguments: Readonly<JsonObject>;
}

/**
 * What a `before_tool_call` hook may answer. A hook that answers nothing has no objection. An answer cannot overrule a rule or another
 * hook.
 */
export interface BeforeAnswer {
  /** `true` ends the call: no later hook is asked, no person is asked for approval, nothing runs. */
  readonly block?: boolean;
  /** Why the call is blocked: a sentence for the model. */
  readonly reason?: string;
  /** Replaces all arguments. */
  readonly params?: JsonObject;
  /** Merged into the arguments (RFC 7396): `null` removes a member. */
  readonly patch?: JsonObject;
  readonly requireApproval?: ApprovalRequest;
}

/** A question to a person about this call, with the arguments as they are after all hooks. */
export interface ApprovalRequest {
  /** Why a person should look at the call: for the approver, and for the model if the call is refused. */
  readonly reason?: string;
  readonly title?: string;
  readonly description?: string;
  /** Only the approver sees this. */
  readonly detail?: string;
  readonly severity?: Severity;
  readonly timeoutMs?: number;
  /** The decisions that an approver may choose from; `deny` is always among them. */
  readonly decisions?: readonly ApprovalDecision[];
  readonly approvers?: readonly string[];
  readonly quorum?: number;
  /** True if a grant may answer instead of a person. */
  readonly grantable?: boolean;
}

/** A request of one rule or hook to ask a person about a call. All requests of one call are merged into one question. */
export interface Ask extends AskOptions {
  readonly asker: Asker;
  readonly reason?: string;
  /** Only the approver sees this. */
  readonly detail?: string;
}

/** An outcome as observers see it: binary content is given as its number of bytes, and very large content is left out. */
export interface ObservedOutcome {
  readonly kind: OutcomeKind;
  readonly executed: Executed;
  readonly retryable: boolean;
  readonly content: readonly ObservedBlock[];
  readonly structured?: JsonValue;
  readonly error?: OutcomeError;
  /** The advice that loop detection gave the model. */
  readonly advice?: string;
  /** Present if content and structured value were left out because they were too large to be passed on. */
  readonly truncated?: true;
}

export type ObservedBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'structured'; readonly value: JsonValue }
  | ({ readonly kind: 'resource'; readonly uri: string; readonly mediaType?: string } & (
      | { readonly text: string }
      | { readonly bytes: number }
    ))
  | { readonly kind: 'image' | 'audio' | 'file'; readonly mediaType: string; readonly bytes: number };

/**
 * `tool_result`: the result of a tool before it is stored or returned. Each hook gets a frozen copy, as the hook before it left the result.
 */
export interface ToolResultCall extends HookedCallFacts {
  readonly tool: string;
  readonly effect: Effect;
  readonly privileged: boolean;
  /** The arguments that ran. */
  readonly arguments: Readonly<JsonObject>;
  readonly changedBy: readonly ArgumentChange[];
  readonly outcome: ResultOutcome;
  readonly durationMs: number;
}

/**
 * A tool's outcome as result hooks see it. Secrets of the call are already masked. It is never cut: a hook that sees only a part could not
 * check the rest.
 */
export interface ResultOutcome {
  readonly kind: OutcomeKind;
  readonly executed: Executed;
  readonly retryable: boolean;
  readonly content: readonly ResultBlock[];
  readonly structured?: JsonValue;
  /** Present when the tool reported a failure or a denial. */
  readonly error?: OutcomeError;
}

/**
 * A content block as result hooks see and answer it. Binary content is given as its number of bytes. `at` is the block's index in the
 * content: an answer keeps such a block by repeating it, and may change nothing in it but the text of a resource.
 */
export type ResultBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'structured'; readonly value: JsonValue }
  | ({ readonly kind: 'resource'; readonly at: number; readonly uri: string; readonly mediaType?: string } & (
      | { readonly text: string }
      | { readonly bytes: number }
    ))
  | { readonly kind: 'image' | 'audio'; readonly at: number; readonly mediaType: string; readonly bytes: number }
  | {
      readonly kind: 'file';
      readonly at: number;
      readonly name: string;
      readonly mediaType: string;
      readonly bytes: number;
    };

/**
 * What a `tool_result` hook may answer: the whole new result. A field that is left out is removed from the result. A hook that answers
 * nothing keeps the result.
 */
export interface ResultAnswer {
  readonly content?: readonly ResultBlock[];
  /** Must match the tool's output schema. */
  readonly structured?: JsonValue;
}

/**
 * `after_tool_call`: sent once for each call, whether or not the tool ran. Not sent for calls that ended before their tool and arguments
 * were checked, and for calls that the store ends, such as expired ones.
 */
export interface AfterToolCall extends HookedCallFacts {
  readonly tool: string;
  readonly effect: Effect;
  readonly privileged: boolean;
  /** The arguments that ran, or would have run. */
  readonly arguments: Readonly<JsonObject>;
  readonly changedBy: readonly ArgumentChange[];
  readonly outcome: ObservedOutcome;
  readonly durationMs: number;
}

/** `approval_resolved`: sent at most once per approval. */
export interface ApprovalResolved {
  readonly approvalId: string;
  readonly resolution: Resolution;
  readonly callId: string;
  readonly tool: string;
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  readonly askers: readonly Asker[];
  /** The person who decided; absent if the question timed out or was cancelled. */
  readonly by?: string;
  readonly binding: string;
}

/** What a hook gets in addition to the event. */
export interface HookContext {
  /** Aborted when the hook times out or the call is stopped. */
  readonly signal: AbortSignal;
}

export const HOOK_FAILURES = ['threw', 'timed-out', 'invalid-answer', 'not-started', 'exited'] as const;
/**
 * `not-started` and `exited` are for hooks that are commands: the command could not be started; it exited with an error, or wrote far too
 * much.
 */
export type HookFailure = (typeof HOOK_FAILURES)[number];

/** Reports a failed hook to metrics and events. Contains no value of a call and not the cause. */
export interface HookFailed {
  readonly type: 'hook.failed';
  readonly hook: string;
  readonly on: HookEventName;
  readonly tool: string;
  readonly callId: string;
  readonly how: HookFailure;
  readonly durationMs: number;
}

/** Statistics of one hook since its process started. */
export interface HookHealth {
  readonly hook: string;
  readonly on: HookEventName;
  readonly calls: number;
  readonly blocked: number;
  readonly asked: number;
  readonly changed: number;
  /** Failures of any kind, including timeouts. */
  readonly failed: number;
  readonly timedOut: number;
  /** Observations that were never delivered to the hook, because too many were waiting. */
  readonly dropped: number;
  /** Time of the last failure, in milliseconds since 1970 by the clock of the process. */
  readonly lastFailureAt?: number;
  /** 95th percentile of the duration of the last calls; absent before the first call. */
  readonly p95Ms?: number;
}
