import type { Actor } from '../../../domain/identity/actor.ts';
import { planeError } from '../../../domain/errors/errors.ts';
import { parseScopedId, type RunId, type SessionId } from '../../../domain/identity/ids.ts';
import {
  DELEGATOR_ENDED,
  MAX_RUNS,
  type Identity,
  type InjectedGrant,
  type Session,
  type SessionEnding,
} from '../../../domain/identity/session.ts';
import type { EndRunRequest, OpenSessionRequest, RevokeSessionRequest } from '../../../domain/ports/session-store.ts';
import { detailOfEnd, recordOfOpenedSession, withFacts } from '../../administrative-record.ts';
import type { CallRow, SessionRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAdministration } from './append-audit.ts';
import { changeCall } from './call-row.ts';
import {
  addLoopEnd,
  findSession,
  hashToken,
  isTokenOf,
  latestLoopEnds,
  markSeen,
  sessionEnding,
} from './session-row.ts';

export function openSession(transaction: Transaction, request: OpenSessionRequest): { expiresAt: number } {
  const { database, now } = transaction;
  const scoped = parseScopedId(request.id);
  if (scoped === undefined || scoped.lane !== 0) {
    throw planeError('SESSION_INVALID', { problem: 'its id has no scope of this store' });
  }
  const existing = findSession(transaction, request.id);
  if (existing !== undefined) {
    // The same request again after a lost answer. Attack: with another token, the request would take over another caller's session.
    if (isTokenOf(existing, request.tokenDigest)) return { expiresAt: existing.expiresAt };
    throw planeError('SESSION_INVALID', { problem: 'its id is taken' });
  }
  const expiresAt = Math.min(now + Math.ceil(request.lifetimeMs), latestExpiry(transaction, request));
  const record = recordOfOpenedSession(request);
  appendAdministration(
    transaction,
    { ...record, detail: withFacts(record.detail, { expiresAt }) },
    { session: request.id, run: request.run },
  );
  database.run(
    `INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '[]', ?, '[]')`,
    request.id,
    scoped.scope,
    JSON.stringify(request.identity),
    hashToken(request.tokenDigest),
    now,
    expiresAt,
    Math.ceil(request.idleMs),
    now,
    request.actor === undefined ? null : JSON.stringify(request.actor),
  );
  database.run('INSERT INTO run (session, run, startedAt) VALUES (?, ?, ?)', request.id, request.run, now);
  if (request.delegatedBy !== undefined) {
    database.run('INSERT INTO delegate VALUES (?, ?)', request.delegatedBy, request.id);
  }
  return { expiresAt };
}

/**
 * The latest time at which a session may expire. A delegated session must not outlive the session that delegates, because a revocation
 * reaches it only through that one.
 */
function latestExpiry(transaction: Transaction, { id, delegatedBy }: OpenSessionRequest): number {
  if (delegatedBy === undefined) return Number.POSITIVE_INFINITY;
  const delegator = findSession(transaction, delegatedBy);
  const isOurs = parseScopedId(delegatedBy)?.scope === parseScopedId(id)?.scope;
  if (delegator === undefined || !isOurs || sessionEnding(transaction, delegator) !== undefined) {
    throw planeError('SESSION_INVALID', { problem: DELEGATOR_ENDED });
  }
  return delegator.expiresAt;
}

export function touchSession(transaction: Transaction, id: SessionId): 'touched' | 'ended' {
  const session = findSession(transaction, id);
  if (session === undefined || sessionEnding(transaction, session) !== undefined) return 'ended';
  markSeen(transaction, session);
  return 'touched';
}

export function revokeSession(transaction: Transaction, request: RevokeSessionRequest): 'revoked' | 'unknown' {
  const { session: id } = request;
  const session = findSession(transaction, id);
  if (session === undefined) return 'unknown';
  if (session.revoked === 0) {
    const ended = withDelegates(transaction, id);
    const detail = withFacts(detailOfEnd(request), { sessions: ended.length });
    const about = { session: id, identity: session.identity };
    appendAdministration(transaction, { event: 'session.revoked', detail }, about);
    for (const each of ended) {
      transaction.rows.dropSession(each);
      transaction.database.run('UPDATE session SET revoked = 1 WHERE id = ?', each);
      reapParkedSoon(transaction, each);
    }
    transaction.lane.raiseEpoch();
  }
  return 'revoked';
}

/** Returns the session and all sessions it delegated to, directly or not. */
function withDelegates({ database }: Transaction, id: SessionId): SessionId[] {
  const found = database.all<{ id: SessionId }>(
    `WITH RECURSIVE found (id) AS (
       SELECT ? UNION SELECT delegate.session FROM delegate JOIN found ON delegate.delegator = found.id
     ) SELECT id FROM found`,
    id,
  );
  return found.map((row) => row.id);
}

export function proveSession(
  transaction: Transaction,
  { session: id, tokenDigest }: { readonly session: SessionId; readonly tokenDigest: string },
): SessionEnding | undefined {
  const session = findSession(transaction, id);
  if (session === undefined || !isTokenOf(session, tokenDigest)) return 'unknown';
  return sessionEnding(transaction, session);
}

interface RunRequest {
  readonly session: SessionId;
  readonly run: RunId;
}

export function openRun(transaction: Transaction, { session: id, run }: RunRequest): 'opened' | 'ended' | 'full' {
  const session = findSession(transaction, id);
  if (session === undefined || sessionEnding(transaction, session) !== undefined) return 'ended';
  const others = transaction.database.get<{ count: number }>(
    'SELECT count(*) AS count FROM run WHERE session = ? AND run <> ?',
    id,
    run,
  );
  if ((others?.count ?? 0) >= MAX_RUNS) return 'full';
  transaction.database.run(
    'INSERT OR IGNORE INTO run (session, run, startedAt, loopEnds) VALUES (?, ?, ?, ?)',
    id,
    run,
    transaction.now,
    JSON.stringify(latestLoopEnds(session)),
  );
  markSeen(transaction, session);
  return 'opened';
}

export function endRun(transaction: Transaction, request: EndRunRequest): void {
  const { session, run, actor, endedByLoop } = request;
  const identity = findSession(transaction, session)?.identity;
  const wasOpen = dropRun(transaction, request);
  if (wasOpen && endedByLoop !== undefined) addLoopEnd(transaction, session, run, endedByLoop.restMs);
  if (!wasOpen || actor === undefined || identity === undefined) return;
  appendAdministration(transaction, { event: 'run.ended', detail: detailOfEnd(request) }, { session, run, identity });
}

/** Ends a run. Raises the epoch, so that queued calls of the run do not start. Returns whether there was such a run. */
export function dropRun(transaction: Transaction, { session, run }: RunRequest): boolean {
  const { database, lane, rows } = transaction;
  rows.dropSession(session);
  rows.dropRun(session, run);
  database.run('DELETE FROM injected WHERE session = ? AND run = ?', session, run);
  if (database.run('DELETE FROM run WHERE session = ? AND run = ?', session, run) === 0) return false;
  lane.raiseEpoch();
  reapParkedSoon(transaction, session);
  return true;
}

/**
 * Makes the parked calls of a session due for the next reap. No worker claims a parked call, so no worker would notice that its session has
 * ended.
 */
function reapParkedSoon(transaction: Transaction, session: SessionId): void {
  const parked = transaction.database.all<Pick<CallRow, 'seq' | 'keyId' | 'generation'>>(
    `SELECT seq, keyId, generation FROM call WHERE session = ? AND state = 'parked'`,
    session,
  );
  for (const call of parked) changeCall(transaction, call, 'deadline = min(deadline, ?)', transaction.now);
}

export function readSession(transaction: Transaction, id: SessionId): Session | undefined {
  const row = findSession(transaction, id);
  return row === undefined ? undefined : toSession(transaction, row);
}

export function listSessions(transaction: Transaction, limit: number): Session[] {
  const rows = transaction.database.all<SessionRow>('SELECT * FROM session ORDER BY lastSeenAt DESC LIMIT ?', limit);
  return rows.map((row) => toSession(transaction, row));
}

function toSession({ database }: Transaction, row: SessionRow): Session {
  const runs = database.all<{ run: RunId }>('SELECT run FROM run WHERE session = ?', row.id);
  const injected = database.all<InjectedGrant>('SELECT run, tool, by FROM injected WHERE session = ?', row.id);
  return {
    id: row.id as SessionId,
    identity: JSON.parse(row.identity) as Identity,
    openedAt: row.openedAt,
    ...(row.openedBy === null ? {} : { openedBy: JSON.parse(row.openedBy) as Actor }),
    expiresAt: row.expiresAt,
    idleMs: row.idleMs,
    lastSeenAt: row.lastSeenAt,
    revoked: row.revoked === 1,
    runs: runs.map(({ run }) => run),
    ...(injected.length === 0 ? {} : { injected: injected.map(({ run, tool, by }) => ({ run, tool, by })) }),
  };
}
