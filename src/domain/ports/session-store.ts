import type { Administered } from '../identity/actor.ts';
import type { RunId, SessionId, ToolId } from '../identity/ids.ts';
import type { Identity, Session, SessionEnding } from '../identity/session.ts';
import type { OwnedCall } from './call-requests.ts';

/**
 * Sessions and their runs. The trusted side writes them; `acceptCall` and `claimCalls` check them. Opening or revoking a session is one
 * step with its audit record.
 */
export interface SessionStore
  extends SessionOpening, SessionCare, RunEnds, SessionProof, ToolInjection, SessionReader, SessionList {}

/** Opens sessions, for the trusted side. */
export interface SessionOpening {
  /** A delegated session expires no later than the session that delegates. Throws SESSION_INVALID if that session is not live. */
  openSession(request: OpenSessionRequest): Promise<{ expiresAt: number }>;
}

/** Extends and revokes sessions and opens their runs, for the trusted side. */
export interface SessionCare {
  /** Extends the idle expiry; the absolute expiry stays. */
  touchSession(session: SessionId): Promise<'touched' | 'ended'>;
  /**
   * Revokes the session and all sessions that it delegated to, directly or indirectly. Changes the lane's epoch, so queued calls of these
   * sessions end `denied` when a worker claims them.
   */
  revokeSession(request: RevokeSessionRequest): Promise<'revoked' | 'unknown'>;
  /** `full`: the session has `MAX_RUNS` open runs. Opening an open run again changes nothing. */
  openRun(request: { session: SessionId; run: RunId }): Promise<'opened' | 'ended' | 'full'>;
}

/** Ends runs, for the trusted side. */
export interface RunEnds {
  /**
   * If an actor is given and the run was open, the audit record is written in the same step. A program that ends its own runs gives no
   * actor.
   */
  endRun(request: EndRunRequest): Promise<void>;
}

/** Checks the token of a session. */
export interface SessionProof {
  /** Checks that this token belongs to this session and that the session is live. Undefined: both are true. */
  proveSession(request: { session: SessionId; tokenDigest: string }): Promise<SessionEnding | undefined>;
}

/** Adds tools to a run, for the worker that holds one of its calls. */
export interface ToolInjection {
  /**
   * Adds tools to the run of a call, after those that earlier calls added, up to `limit` in total. Only the worker that holds the call may
   * do this. The added tools end with the run. The lane's epoch does not change, because nothing is taken away from any call.
   */
  injectTools(request: InjectRequest): Promise<InjectAnswer>;
}

/** Reads one session. */
export interface SessionReader {
  readSession(session: SessionId): Promise<Session | undefined>;
}

/** Lists sessions, for gateways and operators. */
export interface SessionList {
  listSessions(limit: number): Promise<Session[]>;
}

export interface InjectRequest extends OwnedCall {
  readonly tools: readonly ToolId[];
  readonly limit: number;
}

export type InjectAnswer =
  /** The requested tools that calls of this tool have added to the run, now or earlier. The list is empty if the run has ended. */
  { readonly kind: 'injected'; readonly tools: readonly ToolId[] } | { readonly kind: 'fenced' };

export interface RevokeSessionRequest extends Administered {
  readonly session: SessionId;
}

export interface EndRunRequest extends Administered {
  readonly session: SessionId;
  readonly run: RunId;
  /** Loop detection ends the run. The session remembers that, and for `restMs` its conversation gets no new run. */
  readonly endedByLoop?: { readonly restMs: number };
}

export interface OpenSessionRequest extends Administered {
  readonly id: SessionId;
  readonly run: RunId;
  readonly identity: Identity;
  /** SHA-256 of the token, hex. The store keeps a digest of this, so what it holds is not a credential. */
  readonly tokenDigest: string;
  readonly lifetimeMs: number;
  readonly idleMs: number;
  /** The session of the delegating agent, for the same subject. */
  readonly delegatedBy?: SessionId;
}
