import type { ContentBlock, WriteBacks } from '../domain/content.ts';
import type { GivenInput, InputKind, RequiredInput } from '../domain/input.ts';
import type { CallId, RunId, SessionId, ToolId } from '../domain/ids.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import type { EffectAnswer, EffectBody, EffectKey } from '../domain/platform-effect.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { SecretPlace } from '../domain/secret-reference.ts';
import type { Identity } from '../domain/session.ts';
import type { Soon } from '../domain/soon.ts';
import type { ToolDeclaration } from '../domain/tool.ts';
import type { TraceContext } from '../domain/trace-context.ts';
import type { Fault } from '../domain/error-category.ts';
import type { ServiceAccess } from './service-access.ts';

/** Where tool code is entered. A runner never throws and never hangs: whatever the tool does, it answers with an ending. */
export interface ToolRunner {
  run(request: RunRequest): Soon<RunEnding>;
  /** Ends idle helpers; calls under way were waited for or aborted before. */
  close(): Promise<void>;
}

/** The part of an AbortSignal that says when to stop: a real one costs more than the rest of a short call. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Where the code of a tool is: a file, in one generation of it. A reload makes a new generation, running calls keep theirs. */
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
  /** Present: only the code of the tool's schema is entered, and the ending is `normalised` when it took the arguments. */
  readonly step?: 'normalise';
  readonly untrusted: JsonObject;
  /** Present when the caller brought answers, or said what it can be asked for. */
  readonly input?: GivenInput;
  readonly setup: JsonObject;
  /** W3C; the tool can pass it on. */
  readonly trace?: TraceContext | undefined;
  /** How long the run may take, the smaller of the tool's timeout and what is left of the deadline. */
  readonly timeoutMs: number;
  /** Cancelled, lease lost or draining. The runner aborts the tool and, where it can, kills it after its grace. */
  readonly signal: StopSignal;
  /** Asked right before the tool's own function is entered, after everything that takes time. Absent: it may be entered. */
  readonly start?: StartCheck | undefined;
  /** Absent: its module declared none. Closed by whoever asked for the run. */
  readonly services?: Pick<ServiceAccess, 'offered' | 'call'> | undefined;
  readonly onProgress: (progress: Progress) => void;
  readonly onLog: (line: ToolLogLine) => void;
  /** A nested call: the same path, with this call as its parent. `signal` ends with the run, however that ends. */
  readonly onNestedCall: (request: NestedCallRequest, signal: AbortSignal) => Promise<Outcome>;
  /** Present when there is anything for it: references in the arguments or the setup, or secrets that the tool declares. */
  readonly secrets?: SecretUse;
  /** The tool asks for a secret by name. Absent: it may have none. */
  readonly onSecret?: (name: string) => Promise<SecretAnswer>;
  /** What the tool does on its platform. Numbered in the order of these calls, and never rejected. Absent: there is no platform here. */
  readonly onPlatform?: ((request: PlatformRequest, signal: AbortSignal) => Promise<PlatformReply>) | undefined;
}

/** Whether a tool may still be entered. What allowed it may be older than the verdict may be trusted for. */
export interface StartCheck {
  /** On the clock of `performance.now()`: until then it may, without asking. */
  readonly validUntil: number;
  /** How the run ends instead of entering the tool; undefined when it may be entered. Answers at once while it is valid; never rejects. */
  stopFor(): Soon<RunEnding | undefined>;
}

export interface SecretUse {
  /** Why this call may not use the secret of that name; undefined when it may. */
  refuse(name: string, place: SecretPlace): Outcome | undefined;
  /** Handed what takes the secrets of this run out of later texts. Absent: there are none. */
  readonly onTaint?: (scrub: Scrub) => void;
}

/** Takes secrets out of a value; the same value when there are none in it. */
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
  /** Present: not for the operator's log, but for whoever waits for the call. */
  readonly told?: { readonly value: JsonValue };
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
  /** Where else than the session is; refused unless the operator allows it. */
  readonly platform?: string;
  readonly channel?: string;
  /** Names the effect within its call, instead of its number. */
  readonly key?: string;
  /** How long to wait for the delivery; of a raw operation, its deadline. */
  readonly waitMs?: number;
}

export type PlatformReply =
  | { readonly kind: 'delivered'; readonly key: EffectKey; readonly answer: EffectAnswer }
  /** It will go out, or fail visibly; nobody waited that long. */
  | { readonly kind: 'queued'; readonly key: EffectKey }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** What the tool's code did, before it is judged. */
export type RunEnding =
  | { readonly kind: 'returned'; readonly result: ToolResult; readonly writeBacks: WriteBacks }
  /** It threw ToolFailure, or called denied(). */
  | {
      readonly kind: 'refused';
      readonly how: 'failed' | 'denied';
      readonly message: string;
      readonly code?: string;
      readonly fault?: Fault;
      readonly writeBacks: WriteBacks;
    }
  /** It asked for something that the call does not have. `unavailable`: what the caller said it cannot be asked for. */
  | {
      readonly kind: 'input-required';
      readonly required: RequiredInput;
      readonly unavailable: readonly InputKind[];
      readonly writeBacks: WriteBacks;
    }
  /** The arguments passed the published schema but not the tool's own check. Its code was not entered. */
  | { readonly kind: 'invalid-arguments'; readonly problems: readonly string[] }
  /** Its schema made something else of the arguments than what the rules judged. Its code was not entered. */
  | { readonly kind: 'changed-arguments'; readonly changes: readonly string[] }
  /** The schema of a form made something else of an answer than what was shown. The tool's code ran up to its question. */
  | { readonly kind: 'changed-answers'; readonly changes: readonly string[] }
  /** The answer to the step `normalise`: what the schema made of the arguments, as JSON text. */
  | { readonly kind: 'normalised'; readonly arguments: string }
  /** The other answer to the step `normalise`: the schema made something of the arguments that is no JSON object. */
  | { readonly kind: 'not-json'; readonly problem: string }
  /** It threw something else. The cause is for the operator's log only. */
  | { readonly kind: 'threw'; readonly type: string; readonly cause: string; readonly fault?: Fault }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'aborted' }
  /** Its process ended: exit code, signal or memory. */
  | { readonly kind: 'crashed'; readonly how: string }
  /** Something was missing that it needs; its code was not entered. */
  | { readonly kind: 'not-run'; readonly outcome: Outcome }
  | { readonly kind: 'unserialisable'; readonly problem: string }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly limit: number };

/** A returned value, made plain: JSON, or content blocks, or both. */
export interface ToolResult {
  readonly value?: JsonValue;
  readonly content?: readonly ContentBlock[];
}
