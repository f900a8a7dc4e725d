import type { ApprovalId, GrantId } from '../policy/approval.ts';
import type { CallId, RunId, SessionId, ToolId } from '../identity/ids.ts';
import type { InputKind } from './input.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Identity } from '../identity/session.ts';
import type { Effect } from '../tool/tool.ts';

/**
 * The life of a call:
 *
 *   queued ─► leased(f) ─► running(f) ─► settled
 *     ▲          │  └► parked ─► queued (f+1)
 *     └──────────┴── lease lost, abandoned, handed back: queued again, fence raised
 *
 * `leased` is not stored on the first delivery: an entry in a worker's pending list *is* the lease.
 * `running` is stored by `startCall`: for unsafe and privileged tools, for tools with a single attempt, and for calls that were delivered
 * or parked before. All other calls run while their stored state is `queued`.
 */
export const CALL_STATES = ['queued', 'running', 'parked', 'settled'] as const;
export type CallState = (typeof CALL_STATES)[number];

export const ENVELOPE_VERSION = 1;

/** What a caller sends. Every field is the caller's unproven claim; the identity is not among the fields. */
export interface Envelope {
  readonly version: typeof ENVELOPE_VERSION;
  readonly session: SessionId;
  readonly run: RunId;
  readonly tool: ToolId;
  readonly toolDigest: string;
  /** The arguments as the caller sent them, as canonical JSON (RFC 8785). The body digest is computed from exactly these bytes. */
  readonly arguments: string;
  readonly key: string;
  /** W3C traceparent as the sender wrote it. The code that uses it must check it. */
  readonly trace?: string;
  /** W3C tracestate; present only together with `trace`. */
  readonly traceState?: string;
  readonly parent?: CallId;
  /** Nesting of calls made by tools; 0 for a call of an agent. */
  readonly depth: number;
  /** Display name, message id, room context and the like. Passed along, never trusted. */
  readonly untrusted?: JsonObject;
  /** Canonical JSON of responses and state: the caller's answers to what the tool asked for. Hashed together with the arguments. */
  readonly input?: string;
  /** The kinds of input that the caller can be asked for. An unproven claim, like `untrusted`. */
  readonly inputKinds?: readonly InputKind[];
}

/** A call as the store knows it. */
export interface CallRecord {
  readonly callId: CallId;
  readonly state: CallState;
  readonly tool: ToolId;
  readonly pool: string;
  readonly bodyDigest: string;
  readonly session: SessionId;
  readonly run: RunId;
  readonly identity: Identity;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly settledAt?: number;
  /** Number of start marks that `startCall` wrote. The first run of most `read` and `idempotent` tools writes none. */
  readonly starts: number;
  readonly effect?: Effect;
  readonly cancelRequested: boolean;
  readonly waiters: number;
  readonly resolution?: 'ran' | 'not-ran';
  /** The last question about this call; while the call is parked, the pending question. */
  readonly approval?: ApprovalId;
  /** The grant that let the call through the gate. */
  readonly grant?: GrantId;
  /** Encoded outcome; present when settled. */
  readonly outcome?: Uint8Array;
}

export const LIMITS = Object.freeze({
  argumentsBytes: 1024 * 1024,
  argumentsDepth: 64,
  argumentsKeys: 10_000,
  argumentsItems: 100_000,
  keyLength: 255,
  untrustedBytes: 16 * 1024,
  /** Max bytes of the caller's answers to what a tool asked for, including the state. */
  inputBytes: 512 * 1024,
  inputStateBytes: 256 * 1024,
  nestedDepth: 8,
  traceLength: 256,
  traceStateLength: 512,
  /**
   * A client can ask to wait for the same call again and again. Without this limit, the settlement, which answers every waiter, would grow
   * without bound.
   */
  waitersPerCall: 1000,
  inlineOutcomeBytes: 16 * 1024,
  maxDeadlineMs: 7 * 24 * 60 * 60 * 1000,
});
