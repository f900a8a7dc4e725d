import { hash, timingSafeEqual } from 'node:crypto';
import { addStall, COUNTED_LOOP_ENDS, type Stall } from '../../../domain/call/attempt.ts';
import { MAX_LOOP_ENDS, MAX_RESTING_RUNS, type SessionEnding } from '../../../domain/identity/session.ts';
import type { LoopEnd, SessionRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';

export function findSession({ database, rows }: Transaction, session: string): SessionRow | undefined {
  const cached = rows.session(session);
  if (cached !== undefined) return cached.row;
  const row = database.get<SessionRow>('SELECT * FROM session WHERE id = ?', session);
  return row === undefined ? undefined : rows.keepSession(row).row;
}

/**
 * What the store keeps of a token: a digest of the digest that callers send. An attacker with a stolen file can therefore not use a
 * session.
 */
export function hashToken(tokenDigest: string): Uint8Array {
  return hash('sha256', tokenDigest, 'buffer');
}

/** Compares in constant time: the duration must not reveal how much of a guess was right. */
export function isTokenOf(session: SessionRow, tokenDigest: string): boolean {
  return timingSafeEqual(hashToken(tokenDigest), session.tokenHash);
}

/** Returns why a session cannot be used; undefined if it can. */
export function sessionEnding(
  transaction: Transaction,
  session: SessionRow | undefined,
  run?: string,
): SessionEnding | undefined {
  if (session === undefined) return 'unknown';
  if (session.revoked === 1) return 'revoked';
  const { now } = transaction;
  if (session.expiresAt <= now) return 'expired';
  if (session.lastSeenAt + session.idleMs <= now && !hasParkedCall(transaction, session.id)) return 'expired';
  if (run === undefined || hasRun(transaction, session.id, run)) return undefined;
  return findLoopEnd(session, run) === undefined ? 'run-unknown' : 'run-ended';
}

/** Returns the time from which the conversation of a run that loop detection ended may have a new run. Undefined for other runs. */
export function findLoopEnd({ loopEnds }: SessionRow, run: string): number | undefined {
  return readLoopEnds(loopEnds).findLast(([ended]) => ended === run)?.[2];
}

/** Returns the times at which loop detection ended the latest runs of the session. They are stored with a run that is opened now. */
export function latestLoopEnds({ loopEnds }: SessionRow): number[] {
  return readLoopEnds(loopEnds)
    .slice(-COUNTED_LOOP_ENDS)
    .map(([, endedAt]) => endedAt);
}

export function addLoopEnd(transaction: Transaction, id: string, run: string, restMs: number): void {
  const session = findSession(transaction, id);
  if (session === undefined) return;
  const { now, database, rows } = transaction;
  const added: LoopEnd = [run, now, now + Math.ceil(restMs)];
  const loopEnds = keptLoopEnds([...readLoopEnds(session.loopEnds), added], now);
  // The counted stalls are deleted, because they have led to this end. The next runs are checked more strictly anyway, because of the end
  // itself.
  database.run(`UPDATE session SET loopEnds = ?, stalls = '[]' WHERE id = ?`, JSON.stringify(loopEnds), id);
  rows.dropSession(id);
}

/**
 * Keeps the latest ends of runs. Also keeps earlier ends whose conversation may not have a new run yet: otherwise that conversation could
 * get a new run sooner, only because other runs ended meanwhile.
 */
function keptLoopEnds(loopEnds: readonly LoopEnd[], now: number): LoopEnd[] {
  const first = loopEnds.length - MAX_LOOP_ENDS;
  return loopEnds.filter(([, , opensAt], index) => index >= first || opensAt > now).slice(-MAX_RESTING_RUNS);
}

/** Returns the stalls of a session: calls in its runs that brought nothing new. */
export function findStalls(transaction: Transaction, id: string): readonly Stall[] {
  const stalls = findSession(transaction, id)?.stalls ?? '[]';
  return stalls === '[]' ? NO_STALLS : (JSON.parse(stalls) as Stall[]);
}

const NO_STALLS: readonly Stall[] = Object.freeze([]);

export function countStall(transaction: Transaction, id: string, signature: string): void {
  const session = findSession(transaction, id);
  if (session === undefined) return;
  const { now, database, rows } = transaction;
  const stalls = addStall(findStalls(transaction, id), signature, now);
  database.run('UPDATE session SET stalls = ? WHERE id = ?', JSON.stringify(stalls), id);
  rows.dropSession(id);
}

function readLoopEnds(text: string): LoopEnd[] {
  return text === '[]' ? [] : (JSON.parse(text) as LoopEnd[]);
}

/** While a person is asked, the agent cannot be expected to be active, so the idle expiry is suspended. */
function hasParkedCall({ database }: Transaction, session: string): boolean {
  return database.get(`SELECT 1 FROM call WHERE session = ? AND state = 'parked' LIMIT 1`, session) !== undefined;
}

function hasRun({ database, rows }: Transaction, session: string, run: string): boolean {
  const known = rows.session(session)?.runs;
  if (known?.has(run) === true) return true;
  const found = database.get('SELECT 1 FROM run WHERE session = ? AND run = ?', session, run) !== undefined;
  if (found) known?.add(run);
  return found;
}

/** Returns the earlier of absolute and idle expiry, for a session that is seen now. */
export function expiryOf(session: SessionRow, now: number): number {
  return Math.min(session.expiresAt, now + session.idleMs);
}

export function markSeen({ database, now }: Transaction, session: SessionRow): void {
  if (session.lastSeenAt >= now) return;
  session.lastSeenAt = now;
  database.run('UPDATE session SET lastSeenAt = ? WHERE id = ?', now, session.id);
}
