import type { ContentBlock, WriteBacks } from '../outcome/content.ts';
import type { GivenInput, InputKind, RequiredInput } from '../call/input.ts';
import type { CallId, RunId, SessionId, ToolId } from '../identity/ids.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { EffectAnswer, EffectBody, EffectKey } from '../platform/platform-effect.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { SecretPlace } from '../secret/secret-reference.ts';
import type { Identity } from '../identity/session.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ToolDeclaration } from '../tool/tool.ts';
import type { TraceContext } from '../call/trace-context.ts';
import type { Fault } from '../outcome/error-category.ts';
import type { ServiceAccess } from './service-access.ts';

/** Starts the code of tools. A runner never throws and never hangs: whatever the tool does, the runner returns a `RunEnding`. */
export interface ToolRunner {
  run(request: RunRequest): MaybePromise<RunEnding>;
  /** Stops idle helper processes. Call it only after all calls in progress have ended or were aborted. */
  close(): Promise<void>;
}

/** The part of an AbortSignal that runners need. A real AbortSignal costs more than the rest of a short call. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The code of a tool: a file, and the generation in which the file was loaded. A reload creates a new generation; running calls keep
 * theirs.
 */
export interface ToolSource {
  readonly file: string;
  readonly generation: string;
  readonly module: string;
  readonly tool: string;
}

export interface RunRequest {
  readonly tool: ToolDeclaration;
  readonly source: ToolSource;
  readonly callId: CallId;
  readonly fence: number;
  readonly identity: Identity;
  readonly session: SessionId;
  readonly run: RunId;
  readonly arguments: JsonObject;
  /** Present: only the tool's schema code runs, and the ending is `normalised` if it accepted the arguments. */
  readonly step?: 'normalise';
  readonly untrusted: JsonObject;
  /** Present when the caller sent answers, or stated what it can be asked for. */
  readonly input?: GivenInput;
  readonly setup: JsonObject;
  /** W3C trace context; the tool can pass it on. */
  readonly trace?: TraceContext | undefined;
  /** Timeout of the run: the smaller of the tool's timeout and the remaining deadline. */
  readonly timeoutMs: number;
  /**
   * Aborted when the call is cancelled, its lease is lost, or the worker drains. The runner aborts the tool and, where it can, kills it
   * after its grace period.
   */
  readonly signal: StopSignal;
  /** Called right before the tool's own function starts, after everything that takes time. Absent: no check is needed. */
  readonly start?: StartCheck | undefined;
  /** The services that the module declared; the code that calls `run` closes them. Absent: the module declared none. */
  readonly services?: Pick<ServiceAccess, 'offered' | 'call'> | undefined;
  readonly onProgress: (progress: Progress) => void;
  readonly onLog: (line: ToolLogLine) => void;
  /**
   * Makes a nested call. It goes through the same stages as any call, with this call as its parent. `signal` is aborted when the run ends,
   * however it ends.
   */
  readonly onNestedCall: (request: NestedCallRequest, signal: AbortSignal) => Promise<Outcome>;
  /** Present if needed: there are secret references in the arguments or the setup, or the tool declares secrets. */
  readonly secrets?: SecretUse;
  /** Called when the tool asks for a secret by name. Absent: the tool may use no secrets. */
  readonly onSecret?: (name: string) => Promise<SecretAnswer>;
  /**
   * Called when the tool sends to a platform. Effects are numbered in the order of these calls. Never rejects. Absent: no platforms are
   * configured.
   */
  readonly onPlatform?: ((request: PlatformRequest, signal: AbortSignal) => Promise<PlatformReply>) | undefined;
}

/** Checks whether a tool may still be started. The verdict that allowed it may be too old. */
export interface StartCheck {
  /** Until this time, on the clock of `performance.now()`, the tool may be started without calling `stopFor`. */
  readonly validUntil: number;
  /**
   * Returns the ending of the run if the tool must not start; undefined if it may. Answers without a promise while the verdict is valid;
   * never rejects.
   */
  stopFor(): MaybePromise<RunEnding | undefined>;
}

export interface SecretUse {
  /** Why this call may not use the secret of that name; undefined when it may. */
  refuse(name: string, place: SecretPlace): Outcome | undefined;
  /** Called with a function that removes this run's secrets from later texts. Absent: no such function is needed. */
  readonly onTaint?: (scrub: Scrub) => void;
}

/** Removes secrets from a value; returns the same value when it has none. */
export type Scrub = <Value>(value: Value) => Value;

export type SecretAnswer =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'refused'; readonly outcome: Outcome };

export interface Progress {
  readonly done?: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ToolLogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly data?: JsonObject;
  /** Present: the tool sends this value to the waiters of the call, as a `logged` event. The line is not written to the operator's log. */
  readonly notice?: { readonly value: JsonValue };
}

export interface NestedCallRequest {
  readonly tool: ToolId;
  readonly arguments: JsonObject;
  readonly key?: string;
  readonly deadlineMs?: number;
  readonly input?: GivenInput;
}

export interface PlatformRequest {
  readonly body: Exclude<EffectBody, { readonly kind: 'result' }>;
  /** A target other than the session's own platform; refused unless the operator allows it. */
  readonly platform?: string;
  readonly channel?: string;
  /** A name for the effect, unique within its call. Default: its number. */
  readonly key?: string;
  /** How long to wait for the delivery; for a raw operation, its deadline. */
  readonly waitMs?: number;
}

export type PlatformReply =
  | { readonly kind: 'delivered'; readonly key: EffectKey; readonly answer: EffectAnswer }
  /** The effect was not delivered within `waitMs`. It will be delivered later, or fail and be shown to operators. */
  | { readonly kind: 'queued'; readonly key: EffectKey }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** How the run of a tool ended. The execute stage makes the outcome from it. */
export type RunEnding =
  | { readonly kind: 'returned'; readonly result: ToolResult; readonly writeBacks: WriteBacks }
  /** The tool threw ToolFailure, or called denied(). */
  | {
      readonly kind: 'refused';
      readonly how: 'failed' | 'denied';
      readonly message: string;
      readonly code?: string;
      readonly fault?: Fault;
      readonly writeBacks: WriteBacks;
    }
  /** The tool asked for input that the call does not have. `unavailable`: kinds that the caller stated it cannot be asked for. */
  | {
      readonly kind: 'input-required';
      readonly required: RequiredInput;
      readonly unavailable: readonly InputKind[];
      readonly writeBacks: WriteBacks;
    }
  /** The arguments passed the published schema but not the tool's own check. The tool's function was not started. */
  | { readonly kind: 'invalid-arguments'; readonly problems: readonly string[] }
  /** The tool's schema changed the arguments after the rules had checked them. The tool's function was not started. */
  | { readonly kind: 'changed-arguments'; readonly changes: readonly string[] }
  /** The schema of a form changed an answer that an approver had been shown. The tool ran until it asked for this input. */
  | { readonly kind: 'changed-answers'; readonly changes: readonly string[] }
  /** For the step `normalise`: the arguments as the schema returned them, as JSON text. */
  | { readonly kind: 'normalised'; readonly arguments: string }
  /** For the step `normalise`: the schema returned something that is not a JSON object. */
  | { readonly kind: 'not-json'; readonly problem: string }
  /**
   * The tool threw something other than ToolFailure, or its module could not be loaded. `isStarted`: whether the tool's own function had
   * started. `cause` is for the operator's log only.
   */
  | {
      readonly kind: 'threw';
      readonly isStarted: boolean;
      readonly type: string;
      readonly cause: string;
      readonly fault?: Fault;
    }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'aborted' }
  /** The tool's process ended: exit code, signal or memory. */
  | { readonly kind: 'crashed'; readonly how: string }
  /** Something that the tool needs was missing, such as a secret; its code was not started. */
  | { readonly kind: 'not-run'; readonly outcome: Outcome }
  | { readonly kind: 'unserialisable'; readonly problem: string }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly limit: number };

/** A returned value as plain data: JSON, or content blocks, or both. */
export interface ToolResult {
  readonly value?: JsonValue;
  readonly content?: readonly ContentBlock[];
  /** The server of the tool marked its result as a failure. */
  readonly reportsFailure?: true;
}
