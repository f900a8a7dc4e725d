import type { InjectedTool, RichMessage } from '../domain/content.ts';
import type { CallId } from '../domain/ids.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Identity } from '../domain/session.ts';
import type { TraceContext } from '../domain/trace-context.ts';
import type { NoticeLevel } from '../domain/call-event.ts';
import type { Progress } from '../ports/tool-runner.ts';
import type { Services } from '../ports/tool-services.ts';
import type { AnswerTo, AskedInput, RequestInputOptions, ToolInput } from './input-requests.ts';

/** Everything a tool gets. Least authority: no store, no configuration of the worker, no registry. */
export interface ToolContext<Setup = Record<string, unknown>, Needs extends keyof Services = never> {
  /** From the session, never from the envelope. */
  readonly identity: Identity;
  /** Display name, message id, room context…: what the caller claims. */
  readonly untrusted: JsonObject;
  /** The services the module named in `needs`. Bound to this call: to its identity, and to its end. */
  readonly services: Readonly<Pick<Services, Needs>>;
  /** This module instance's configuration, parsed by the module's `setup` schema. */
  readonly setup: Setup;
  readonly callId: CallId;
  /** Grows with every new owner of the call: pass it to systems that can refuse an older writer. */
  readonly fence: number;
  /** W3C trace context, if there is one: spread it into the headers of what you ask. Calls made with `call` have it already. */
  readonly trace: TraceContext | undefined;
  /** Aborted when the call is cancelled, the time is up or the worker stops. */
  readonly signal: AbortSignal;
  /** Secrets that the tool declares. What it says afterwards never holds their values. */
  readonly secrets: ToolSecrets;
  timeLeftMs(): number;
  /** At most one event each 100 ms reaches the waiters; the latest wins. */
  progress(progress: Progress): void;
  /** Tells whoever waits for the call and wants events. Best effort, up to 200 a call; `log` is for the operator. */
  notify(level: NoticeLevel, data: JsonValue): void;
  /** What the caller brought along: answers and state of an earlier round, and what it can be asked for. Its claims. */
  readonly input: ToolInput | undefined;
  /**
   * Asks the person or program at the other end, and gives the answers if the call has them already. If it has not, it throws: the run
   * ends, the outcome says what is needed, and the tool is run again from the start by a new call that brings the answers. So ask
   * before you change anything, and let the error pass.
   */
  requestInput<const Asked extends Readonly<Record<string, AskedInput>>>(
    requests: Asked,
    options?: RequestInputOptions,
  ): { readonly [Name in keyof Asked]: AnswerTo<Asked[Name]> };
  readonly log: ToolLog;
  /** Calls another tool through the same path: identity, permission, gate and audit apply. */
  call(tool: string, args: JsonObject, options?: NestedCallOptions): Promise<Outcome>;
  /** The platform the session is on: messages, files, raw operations. Tools never hold its credentials. */
  readonly platform: PlatformProxy;
  /** Hands over a file beside the answer. Throws ToolFailure for what is no regular file, or too large. */
  sendFile(file: SentFile): void;
  sendMessage(message: RichMessage): void;
  /** Offers a tool to the same run; selection and permission still apply. */
  offerTool(offer: InjectedTool): void;
  /** Adds to what this call costs, in the deployment's unit; replaces the cost the tool declares. Throws TypeError for what is no cost. */
  cost(amount: number): void;
}

export interface ToolSecrets {
  /** Throws ToolFailure with a code such as SECRET_DENIED when the call may not have it, or it cannot be read. */
  get(name: string): Promise<string>;
}

export interface ToolLog {
  debug(message: string, data?: Record<string, unknown>): void;
  info(message: string, data?: Record<string, unknown>): void;
  warn(message: string, data?: Record<string, unknown>): void;
  error(message: string, data?: Record<string, unknown>): void;
}

export interface NestedCallOptions {
  /** The same key within this call means the same nested call. */
  readonly key?: string;
  readonly deadlineMs?: number;
  /** Answers to what the other tool asked for: `{ responses, state }`. */
  readonly input?: { readonly responses?: JsonObject; readonly state?: string };
}

export type SentFile = { readonly name?: string; readonly mediaType?: string } & (
  | { readonly name: string; readonly bytes: Uint8Array }
  /** A regular file of the machine the tool runs on; links are not followed. */
  | { readonly path: string }
);

/**
 * What a tool can do where its session is. Each effect has a key, the call's id and its number in the call: if the call is run again, the
 * same effects in the same order are the same effects, and go out once. Sent in order; refused once the call belongs to another worker.
 * All throw ToolFailure when it is refused or has failed for good.
 */
export interface PlatformProxy {
  send(message: string | SentMessage, options?: EffectOptions & { readonly replyTo?: string }): Promise<SentEffect>;
  edit(messageId: string, message: string | SentMessage, options?: EffectOptions): Promise<SentEffect>;
  react(messageId: string, reaction: string, options?: EffectOptions): Promise<SentEffect>;
  sendFile(file: SentFile, options?: EffectOptions & { readonly text?: string }): Promise<SentEffect>;
  /** A raw operation of the platform, answered by its adapter. Never done again once it was answered. */
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
  /** Names the effect instead of its number, for tools that may send in another order when they are run again. */
  readonly key?: string;
  /** How long to wait for the delivery; then the answer is `queued`. Default: 10 s. 0: do not wait. */
  readonly waitMs?: number;
}

export interface RawOptions {
  readonly platform?: string;
  readonly key?: string;
  /** Default: 30 s, and never longer than the call has. */
  readonly deadlineMs?: number;
}

export interface SentEffect {
  readonly state: 'delivered' | 'queued';
  readonly key: string;
  /** The platform's own, once it was delivered and if the platform has one. */
  readonly messageId?: string;
}
