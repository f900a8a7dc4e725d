import type { Administered } from '../domain/actor.ts';
import type { RunId, SessionId, ToolId } from '../domain/ids.ts';
import type { Identity, Session, SessionEnding } from '../domain/session.ts';
import type { OwnedCall } from './call-store.ts';

/**
 * Sessions and their runs. The trusted side writes them; accept and claim check them in the call store. Opening and revoking a session
 * is one step with its audit record.
 */
export interface SessionStore {
  /** One that is delegated expires with its delegator at the latest. Throws SESSION_INVALID if the delegator does not live. */
  openSession(request: OpenSessionRequest): Promise<{ expiresAt: number }>;
  /** Pushes the idle expiry out; the absolute one stays. */
  touchSession(session: SessionId): Promise<'touched' | 'ended'>;
  /** With all that it delegated to, and they did. Moves the lane's epoch: queued calls of these sessions end `denied` at their claim. */
  revokeSession(request: RevokeSessionRequest): Promise<'revoked' | 'unknown'>;
  /** `full`: the session has `MAX_RUNS` open runs. Opening a run that is open changes nothing. */
  openRun(request: { session: SessionId; run: RunId }): Promise<'opened' | 'ended' | 'full'>;
  /** With an actor, and if the run was open, in one step with its audit record. A program that ends its own runs names none. */
  endRun(request: EndRunRequest): Promise<void>;
  /** Whether this token belongs to this session and the session lives; undefined means yes. */
  proveSession(request: { session: SessionId; tokenDigest: string }): Promise<SessionEnding | undefined>;
  /**
   * Notes tools that a call offers to its own run, beside those offered before, up to `limit` in all. Only the call's owner may; they go
   * with the run. Takes nothing away, so the epoch stays.
   */
  injectTools(request: InjectRequest): Promise<InjectAnswer>;
  readSession(session: SessionId): Promise<Session | undefined>;
  listSessions(limit: number): Promise<Session[]>;
}

export interface InjectRequest extends OwnedCall {
  readonly tools: readonly ToolId[];
  readonly limit: number;
}

export type InjectAnswer =
  /** Those of the request that the run has now; none when it has ended. */
  { readonly kind: 'injected'; readonly tools: readonly ToolId[] } | { readonly kind: 'fenced' };

export interface RevokeSessionRequest extends Administered {
  readonly session: SessionId;
}

export interface EndRunRequest extends Administered {
  readonly session: SessionId;
  readonly run: RunId;
  /** Loop detection ends it: the session remembers that, and for `restMs` its conversation gets no new run. */
  readonly endedByLoop?: { readonly restMs: number };
}

export interface OpenSessionRequest extends Administered {
  readonly id: SessionId;
  readonly run: RunId;
  readonly identity: Identity;
  /** SHA-256 of the token, hex. The store keeps a digest of this, so what it holds is no credential. */
  readonly tokenDigest: string;
  readonly lifetimeMs: number;
  readonly idleMs: number;
  /** The session of the agent that delegates; of the same subject. */
  readonly delegatedBy?: SessionId;
}
