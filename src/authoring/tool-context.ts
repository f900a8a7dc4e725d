import type { InjectedTool, RichMessage } from '../domain/content.ts';
import type { CallId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Identity } from '../domain/session.ts';
import type { TraceContext } from '../domain/trace-context.ts';
import type { Progress } from '../ports/tool-runner.ts';
import type { Services } from '../ports/tool-services.ts';

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
  readonly log: ToolLog;
  /** Calls another tool through the same path: identity, permission, gate and audit apply. */
  call(tool: string, args: JsonObject, options?: NestedCallOptions): Promise<Outcome>;
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
}

export type SentFile = { readonly name?: string; readonly mediaType?: string } & (
  | { readonly name: string; readonly bytes: Uint8Array }
  /** A regular file of the machine the tool runs on; links are not followed. */
  | { readonly path: string }
);
