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
  /** Agents that this agent acts for, the nearest first. This agent has only tools that each of them has. */
  readonly delegators?: readonly string[];
  /** True if the session was opened unattended: a call that a person would be asked about is denied at once. This cannot be undone. */
  readonly unattended?: true;
}

/** A tool that a call of another tool added to its run. Holds ids only; the tools are looked up when they are needed. */
export interface InjectedGrant {
  readonly run: RunId;
  readonly tool: ToolId;
  /** The tool whose call added it. */
  readonly by: ToolId;
}

export interface Session {
  readonly id: SessionId;
  readonly identity: Identity;
  readonly openedAt: number;
  /** Absent for a session that an earlier release opened. */
  readonly openedBy?: Actor;
  readonly expiresAt: number;
  /** The session ends after this long without a call and without `touchSession`. */
  readonly idleMs: number;
  readonly lastSeenAt: number;
  readonly revoked: boolean;
  readonly runs: readonly RunId[];
  /** Tools that calls added to the open runs, in no particular order. Absent if there are none. */
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
 * Max open runs of one session. At the limit, a store opens no more and closes none: closing a run would delete its history and deny its
 * queued calls. The program that opened the runs knows which of them are over, and has to close those.
 */
export const MAX_RUNS = 1000;

/**
 * Max number of runs ended by loop detection that a session remembers; the latest are kept. Later calls in such a run get the advice of
 * loop detection. A run that is no longer remembered counts as unknown.
 */
export const MAX_LOOP_ENDS = 16;
/**
 * Max number of runs ended by loop detection that a session remembers in total. Beyond `MAX_LOOP_ENDS`, it keeps only runs whose
 * conversation may not have a new run yet.
 */
export const MAX_RESTING_RUNS = 256;

/** `run-ended`: loop detection ended the run. `run-unknown`: there is no such run in the session, or something else ended it. */
export const SESSION_ENDINGS = ['unknown', 'expired', 'revoked', 'run-unknown', 'run-ended'] as const;
export type SessionEnding = (typeof SESSION_ENDINGS)[number];

/** The problem text for a delegation by a session that has ended. */
export const DELEGATOR_ENDED = 'the session that delegates does not live';
