import type { Actor } from './actor.ts';
import type { RunId, SessionId, ToolId } from './ids.ts';

/** Who a call is made for. Comes from the session record only, never from an envelope. */
export interface Identity {
  readonly tenant: string;
  readonly subject: string;
  readonly agent: string;
  readonly channel?: string;
  /** The guild, workspace or room a platform has. */
  readonly space?: string;
  readonly platform?: string;
  /** Agents this one acts for, the nearest first: it holds at most what each of them holds. */
  readonly delegators?: readonly string[];
  /** The session was opened unattended: its calls are denied at once where a person would be asked. Never taken back. */
  readonly unattended?: true;
}

/** A tool that another one offered to a run. Ids only: what they mean is looked up when it is asked for. */
export interface InjectedGrant {
  readonly run: RunId;
  readonly tool: ToolId;
  /** The tool that offered it. */
  readonly by: ToolId;
}

export interface Session {
  readonly id: SessionId;
  readonly identity: Identity;
  readonly openedAt: number;
  /** Absent for a session that an earlier release opened. */
  readonly openedBy?: Actor;
  readonly expiresAt: number;
  /** Without a call or a touch for so long the session ends. */
  readonly idleMs: number;
  readonly lastSeenAt: number;
  readonly revoked: boolean;
  readonly runs: readonly RunId[];
  /** Of all runs that are open, in no order. Absent when there are none. */
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
 * Open runs of one session. A store opens no more of them, and closes none to make room: what a run has tried would be forgotten with
 * it, and its queued calls denied. The side that opened the runs knows which of them are over.
 */
export const MAX_RUNS = 1000;

/**
 * A session remembers this many of the runs that loop detection ended, the latest ones: calls in them are answered with its advice. A
 * run that is no longer remembered is unknown.
 */
export const MAX_LOOP_ENDS = 16;
/** It also remembers those whose rest is not over, up to this many together. */
export const MAX_RESTING_RUNS = 256;

/** `run-ended`: loop detection ended the run. `run-unknown`: there is no such run in the session, or something else ended it. */
export const SESSION_ENDINGS = ['unknown', 'expired', 'revoked', 'run-unknown', 'run-ended'] as const;
export type SessionEnding = (typeof SESSION_ENDINGS)[number];

/** The problem with a session that is to be delegated by one that has ended. */
export const DELEGATOR_ENDED = 'the session that delegates does not live';
