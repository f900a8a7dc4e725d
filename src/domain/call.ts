import type { ApprovalId, GrantId } from './approval.ts';
import type { CallId, RunId, SessionId, ToolId } from './ids.ts';
import type { InputKind } from './input.ts';
import type { JsonObject } from './json.ts';
import type { Identity } from './session.ts';
import type { Effect } from './tool.ts';

/**
 * The life of a call:
 *
 *   queued ─► leased(f) ─► running(f) ─► settled
 *     ▲          │  └► parked ─► queued (f+1)
 *     └──────────┴── lease lost, abandoned, handed back: queued again, fence raised
 *
 * `leased` is not stored on the first delivery: an entry in somebody's pending list *is* the lease.
 * `running` is stored by `start`, which is obligatory for unsafe tools and from the second delivery on.
 */
export const CALL_STATES = ['queued', 'running', 'parked', 'settled'] as const;
export type CallState = (typeof CALL_STATES)[number];

export const ENVELOPE_VERSION = 1;

/** What a caller sends. Everything here is the caller's claim; identity is not among it. */
export interface Envelope {
  readonly version: typeof ENVELOPE_VERSION;
  readonly session: SessionId;
  readonly run: RunId;
  readonly tool: ToolId;
  readonly toolDigest: string;
  /** Canonical JSON (RFC 8785). These bytes are what is hashed, approved and executed. */
  readonly arguments: string;
  readonly key: string;
  /** W3C traceparent, as whoever sent it says: it is checked by whoever uses it. */
  readonly trace?: string;
  /** W3C tracestate; only beside `trace`. */
  readonly traceState?: string;
  readonly parent?: CallId;
  /** Nesting of calls made by tools; 0 for a call of an agent. */
  readonly depth: number;
  /** Display name, message id, room context…: rides along, never trusted. */
  readonly untrusted?: JsonObject;
  /** Canonical JSON of responses and state: answers to what the tool asked for. Hashed with the arguments. */
  readonly input?: string;
  /** What the caller can be asked for. A claim, like `untrusted`. */
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
  /** Starts written down by `start`; a first run of a `read` tool is not among them. */
  readonly starts: number;
  readonly effect?: Effect;
  readonly cancelRequested: boolean;
  readonly waiters: number;
  readonly resolution?: 'ran' | 'not-ran';
  /** The last question about it; while it is parked, the one that is pending. */
  readonly approval?: ApprovalId;
  /** That let it through. */
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
  /** Answers of the caller to what a tool asked for, with the state. */
  inputBytes: 512 * 1024,
  inputStateBytes: 256 * 1024,
  nestedDepth: 8,
  traceLength: 256,
  traceStateLength: 512,
  /** Somebody who waits for the same call again and again must not make its settlement grow without bound. */
  waitersPerCall: 1000,
  inlineOutcomeBytes: 16 * 1024,
  maxDeadlineMs: 7 * 24 * 60 * 60 * 1000,
});
