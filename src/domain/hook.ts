import type { ApprovalDecision, Asker, Resolution, Severity } from './approval.ts';
import type { ArgumentChange } from './argument-change.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Executed, OutcomeError, OutcomeKind } from './outcome.ts';
import type { AskOptions } from './rule.ts';
import type { Identity } from './session.ts';
import type { Effect } from './tool.ts';

/** Where an operator's own code is asked or told about a call. */
export const HOOK_EVENTS = ['before_tool_call', 'tool_result', 'after_tool_call', 'approval_resolved'] as const;
export type HookEventName = (typeof HOOK_EVENTS)[number];

export const DEFAULT_HOOK_TIMEOUT_MS = 15_000;
export const MOST_HOOK_TIMEOUT_MS = 600_000;
export const MOST_HOOK_PRIORITY = 1_000_000;

/** What of a tool decides whether a hook is for it. */
export interface HookedTool {
  readonly id: string;
  readonly effect: Effect;
  readonly privileged: boolean;
}

/** Which calls a hook is for. What it leaves out matches all; what it names must all match. */
export interface HookMatch {
  /** `module.tool`, `module.*` or `*`. */
  readonly tools?: readonly string[];
  readonly effects?: readonly Effect[];
}

/** Whose call it is; the same in every event about it. */
export interface HookedCallFacts {
  /** The attempt's id: joins what is said before, after and about an approval. */
  readonly callId: string;
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  /** The call of the tool that made this one. */
  readonly parent?: string;
  /** W3C `traceparent`. */
  readonly trace?: string;
  /** What the caller claims. Decide nothing by it. */
  readonly untrusted?: JsonObject;
}

/** `before_tool_call`: a frozen copy for each hook, as the one before it left the arguments. */
export interface BeforeToolCall extends HookedCallFacts {
  readonly tool: string;
  readonly effect: Effect;
  readonly privileged: boolean;
  readonly arguments: Readonly<JsonObject>;
}

/** What a `before_tool_call` hook may answer; nothing means no objection. No answer overrules a rule or another hook. */
export interface BeforeAnswer {
  /** `true` ends it: no later hook is asked, nobody is asked for approval, nothing runs. */
  readonly block?: boolean;
  /** Why it is blocked: a sentence for the model. */
  readonly reason?: string;
  /** Takes the place of all arguments. */
  readonly params?: JsonObject;
  /** Merged into the arguments (RFC 7396): `null` takes a member away. */
  readonly patch?: JsonObject;
  readonly requireApproval?: ApprovalRequest;
}

/** A question to a person about this call, with the arguments as they are after all hooks. */
export interface ApprovalRequest {
  /** Why somebody should look: for the person, and for the model if it is refused. */
  readonly reason?: string;
  readonly title?: string;
  readonly description?: string;
  /** For the approver's eyes only. */
  readonly detail?: string;
  readonly severity?: Severity;
  readonly timeoutMs?: number;
  /** What may be answered; `deny` always may. */
  readonly decisions?: readonly ApprovalDecision[];
  readonly approvers?: readonly string[];
  readonly quorum?: number;
  /** A remembered yes may answer instead of a person. */
  readonly grantable?: boolean;
}

/** One rule or hook that wants a person to look at a call; those of one call are merged into a question. */
export interface Ask extends AskOptions {
  readonly asker: Asker;
  readonly reason?: string;
  /** For the approver's eyes only. */
  readonly detail?: string;
}

/** An outcome as observers see it: bytes are told by their number, and what is very large is left out. */
export interface ObservedOutcome {
  readonly kind: OutcomeKind;
  readonly executed: Executed;
  readonly retryable: boolean;
  readonly content: readonly ObservedBlock[];
  readonly structured?: JsonValue;
  readonly error?: OutcomeError;
  /** What loop detection advised the model. */
  readonly advice?: string;
  /** Content and structured value are left out: they were too large to be handed around. */
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

/** `tool_result`: what a tool gave, before it is stored or answered. A frozen copy for each hook, as the one before it left the result. */
export interface ToolResultCall extends HookedCallFacts {
  readonly tool: string;
  readonly effect: Effect;
  readonly privileged: boolean;
  /** Those that ran. */
  readonly arguments: Readonly<JsonObject>;
  readonly changedBy: readonly ArgumentChange[];
  readonly outcome: ResultOutcome;
  readonly durationMs: number;
}

/** Secrets of the call are already masked. Never cut: a hook that sees only a part could not check the rest. */
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
 * A content block as result hooks see and answer it. Bytes are given by their number. `at` is the place of the block in the content: an
 * answer keeps such a block by repeating it. Only the text of a resource may be another one.
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

/** The whole new result, what it leaves out is gone; nothing at all keeps the result. */
export interface ResultAnswer {
  readonly content?: readonly ResultBlock[];
  /** Must match the tool's output schema. */
  readonly structured?: JsonValue;
}

/** `after_tool_call`: told once, of every ending, whether or not the tool ran. */
export interface AfterToolCall extends HookedCallFacts {
  readonly tool: string;
  readonly effect: Effect;
  readonly privileged: boolean;
  /** Those that ran, or would have. */
  readonly arguments: Readonly<JsonObject>;
  readonly changedBy: readonly ArgumentChange[];
  readonly outcome: ObservedOutcome;
  readonly durationMs: number;
}

/** `approval_resolved`: told at most once. */
export interface ApprovalResolved {
  readonly approvalId: string;
  readonly resolution: Resolution;
  readonly callId: string;
  readonly tool: string;
  readonly session: string;
  readonly run: string;
  readonly identity: Identity;
  readonly askers: readonly Asker[];
  /** Whoever decided; nobody when it ran out or was cancelled. */
  readonly by?: string;
  readonly binding: string;
}

/** Beside the event. */
export interface HookContext {
  /** Aborted when the hook's time is up or the call is stopped. */
  readonly signal: AbortSignal;
}

export const HOOK_FAILURES = ['threw', 'timed-out', 'invalid-answer', 'not-started', 'exited'] as const;
/** `not-started` and `exited` are for commands: it could not be started; it ended badly, or said far too much. */
export type HookFailure = (typeof HOOK_FAILURES)[number];

/** For metrics and events: never a value of a call, never the cause. */
export interface HookFailed {
  readonly type: 'hook.failed';
  readonly hook: string;
  readonly on: HookEventName;
  readonly tool: string;
  readonly callId: string;
  readonly how: HookFailure;
  readonly durationMs: number;
}

/** How a hook is doing, since its process started. */
export interface HookHealth {
  readonly hook: string;
  readonly on: HookEventName;
  readonly calls: number;
  readonly blocked: number;
  readonly asked: number;
  readonly changed: number;
  /** Of any kind, those that timed out among them. */
  readonly failed: number;
  readonly timedOut: number;
  /** Observations that were never handed over, because too many waited. */
  readonly dropped: number;
  /** Milliseconds since 1970, by the clock of the process. */
  readonly lastFailureAt?: number;
  /** Of the last calls; absent before the first. */
  readonly p95Ms?: number;
}
