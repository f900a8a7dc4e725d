import type { Actor } from './actor.ts';
import type { RunId, SessionId, ToolId } from './ids.ts';

/** The identity that a call is made for. It comes from the session record only, never from an envelope. */
export interface Identity {
  readonly tenant: string;
  readonly subject: string;
  readonly agent: string;
  readonly channel?: string;
  /** The guild, workspace or room on the platform. */
  readonly space?: string;
  readonly platform?: string;
  /** Agents that this one acts for, the nearest first. It has at most the tools that each of them has. */
  readonly delegators?: readonly string[];
  /** True if the session was opened unattended: a call that a person would be asked about is denied at once. This cannot be undone. */
  readonly unattended?: true;
}

/** A tool that another tool offered to a run. Holds ids only; they are looked up when they are needed. */
export interface InjectedGrant {
  readonly run: RunId;
  readonly tool: ToolId;
  /** The tool that made the offer. */
  readonly by: ToolId;
}

export interface Session {
  readonly id: SessionId;
  readonly identity: Identity;
  readonly openedAt: number;
  /** Absent for a session that an earlier release opened. */
  readonly openedBy?: Actor;
  readonly expiresAt: number;
  /** The session ends after this long without a call or a touch. */
  readonly idleMs: number;
  readonly lastSeenAt: number;
  readonly revoked: boolean;
  readonly runs: readonly RunId[];
  /** Offers of all open runs, in no particular order. Absent if there are none. */
  readonly injected?: readonly InjectedGrant[];
}

/** What the trusted side gets back from `openSession`. The token is shown once and stored nowhere. */
export interface SessionHandle {
  readonly id: SessionId;
  readonly token: string;
  readonly run: RunId;
  readonly expiresAt: number;
}

/**
 * Max open runs of one session. A store opens no more of them and closes none to make room: closing a run would lose what it has tried and
 * deny its queued calls. The side that opened the runs knows which of them are over.
 */
export const MAX_RUNS = 1000;

/**
 * Max runs ended by loop detection that a session remembers, the latest ones: calls in them are answered with its advice. A run that is no
 * longer remembered is unknown.
 */
export const MAX_LOOP_ENDS = 16;
/** Max ended runs that a session remembers in all, because it also keeps those whose rest time is not over. */
export const MAX_RESTING_RUNS = 256;

/** `run-ended`: loop detection ended the run. `run-unknown`: there is no such run in the session, or something else ended it. */
export const SESSION_ENDINGS = ['unknown', 'expired', 'revoked', 'run-unknown', 'run-ended'] as const;
export type SessionEnding = (typeof SESSION_ENDINGS)[number];

/** The problem text for a delegation by a session that has ended. */
export const DELEGATOR_ENDED = 'the session that delegates does not live';
