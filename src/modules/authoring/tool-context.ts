import type { InjectedTool, RichMessage } from '../../domain/outcome/content.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Identity } from '../../domain/identity/session.ts';
import type { TraceContext } from '../../domain/call/trace-context.ts';
import type { NoticeLevel } from '../../domain/call/call-event.ts';
import type { Progress } from '../../domain/ports/tool-runner.ts';
import type { Services } from '../../domain/ports/tool-services.ts';
import type { AnswerTo, AskedInput, RequestInputOptions, ToolInput } from './input-requests.ts';

/** Everything that a tool gets. By least authority it has no access to the store, the worker's configuration or the registry of modules. */
export interface ToolContext<Setup = Record<string, unknown>, Needs extends keyof Services = never> {
  /** The identity of the caller, from the session, never from the envelope. */
  readonly identity: Identity;
  /** Display name, message id, room context and the like: unproven claims of the caller. */
  readonly untrusted: JsonObject;
  /** The services that the module named in `needs`. They are bound to this call's identity, and stop working when the call ends. */
  readonly services: Readonly<Pick<Services, Needs>>;
  /** This module instance's configuration, parsed by the module's `setup` schema. */
  readonly setup: Setup;
  readonly callId: CallId;
  /** A number that grows each time another worker takes over the call. Pass it to systems that can refuse an older writer. */
  readonly fence: number;
  /** W3C trace context, if there is one: spread it into the headers of your requests. Calls made with `call` have it already. */
  readonly trace: TraceContext | undefined;
  /** Aborted when the call is cancelled, its time is up or the worker stops. */
  readonly signal: AbortSignal;
  /** Secrets that the tool declares. Their values are removed from everything that leaves the call afterwards. */
  readonly secrets: ToolSecrets;
  timeLeftMs(): number;
  /** Reports progress. The waiters get at most one event per 100 ms: the latest one of that time. */
  progress(progress: Progress): void;
  /** Notifies the waiters of the call that want events. Best effort, up to 200 per call. Messages for the operator go to `log`. */
  notify(level: NoticeLevel, data: JsonValue): void;
  /**
   * The input that the caller sent: answers and state of an earlier round, and what the caller can be asked for. These are unproven claims.
   */
  readonly input: ToolInput | undefined;
  /**
   * Asks the person or program that made the call, and returns the answers if the call has them already. If it has not, it throws: the run
   * ends, the outcome states what is needed, and a new call with the answers runs the tool again from the start. So ask before you change
   * anything, and do not catch the error.
   */
  requestInput<const Asked extends Readonly<Record<string, AskedInput>>>(
    requests: Asked,
    options?: RequestInputOptions,
  ): { readonly [Name in keyof Asked]: AnswerTo<Asked[Name]> };
  readonly log: ToolLog;
  /** Calls another tool. The call takes the same path as any other: identity, permissions, gate and audit apply. */
  call(tool: string, args: JsonObject, options?: NestedCallOptions): Promise<Outcome>;
  /** The platform of the session: messages, files, raw operations. Tools never hold its credentials. */
  readonly platform: PlatformProxy;
  /** Returns a file in addition to the answer. Throws ToolFailure if it is not a regular file or is too large. */
  sendFile(file: SentFile): void;
  sendMessage(message: RichMessage): void;
  /** Offers a tool to the same run; selection and permission still apply. */
  offerTool(offer: InjectedTool): void;
  /**
   * Adds to the cost of this call, in the deployment's unit; replaces the cost that the tool declares. Throws TypeError for an invalid
   * amount.
   */
  cost(amount: number): void;
}

export interface ToolSecrets {
  /**
   * Returns the value of a secret. Throws ToolFailure with a code such as SECRET_DENIED if the call may not have it, or if it cannot be
   * read.
   */
  get(name: string): Promise<string>;
}

export interface ToolLog {
  debug(message: string, data?: Record<string, unknown>): void;
  info(message: string, data?: Record<string, unknown>): void;
  warn(message: string, data?: Record<string, unknown>): void;
  error(message: string, data?: Record<string, unknown>): void;
}

export interface NestedCallOptions {
  /** Within this call, the same key means the same nested call. */
  readonly key?: string;
  readonly deadlineMs?: number;
  /** Answers to what the other tool asked for: `{ responses, state }`. */
  readonly input?: { readonly responses?: JsonObject; readonly state?: string };
}

export type SentFile = { readonly name?: string; readonly mediaType?: string } & (
  | { readonly name: string; readonly bytes: Uint8Array }
  /** A regular file on the machine that the tool runs on; links are not followed. */
  | { readonly path: string }
);

/**
 * What a tool can do on the platform of its session. Each effect has a key: the call's id and the effect's number in the call. If the call
 * is run again, the same effects in the same order have the same keys, and are sent only once. Effects are sent in order, and are refused
 * once the call belongs to another worker. All methods throw ToolFailure if an effect is refused or has failed for good.
 */
export interface PlatformProxy {
  send(message: string | SentMessage, options?: EffectOptions & { readonly replyTo?: string }): Promise<SentEffect>;
  edit(messageId: string, message: string | SentMessage, options?: EffectOptions): Promise<SentEffect>;
  react(messageId: string, reaction: string, options?: EffectOptions): Promise<SentEffect>;
  sendFile(file: SentFile, options?: EffectOptions & { readonly text?: string }): Promise<SentEffect>;
  /** A raw operation of the platform, answered by its adapter. After it was answered, it is never executed again. */
  call(operation: string, args?: JsonObject, options?: RawOptions): Promise<JsonValue>;
}

export interface SentMessage {
  readonly text: string;
  /** Cards, embeds, buttons; an adapter that does not know the format shows the text. */
  readonly rich?: RichMessage;
}

export interface EffectOptions {
  /** Another channel or platform than the session's; refused unless the operator allows it. */
  readonly channel?: string;
  readonly platform?: string;
  /** Names the effect instead of its number. Needed by a tool that may send its effects in another order when it runs again. */
  readonly key?: string;
  /** How long to wait for the delivery; after that the state is `queued`. Default: 10 s. 0: do not wait. */
  readonly waitMs?: number;
}

export interface RawOptions {
  readonly platform?: string;
  readonly key?: string;
  /** Default: 30 s, and never longer than the time that the call has left. */
  readonly deadlineMs?: number;
}

export interface SentEffect {
  readonly state: 'delivered' | 'queued';
  readonly key: string;
  /** The platform's own id of the message, present once it was delivered and if the platform has one. */
  readonly messageId?: string;
}
