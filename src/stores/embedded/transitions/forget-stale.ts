import type { Transaction } from '../transaction.ts';
import { dropOutcomeApart } from './call-bytes.ts';
import { forgetOwed } from './owed.ts';

/**
 * A caller that has not asked for replies for this long is taken for dead, and its replies are deleted. The outcomes can still be read by
 * call id.
 */
const CALLER_GONE_MS = 60_000;
/** How long an ended session is kept, so that it is reported as `expired` and not as `unknown`. */
const ENDED_SESSION_MS = 24 * 60 * 60 * 1000;

/** Deletes what no caller can ask for any more. Calls, sessions and calls owed are limited to `limit` each, so that one reap stays short. */
export function forgetStale(transaction: Transaction, limit: number): void {
  forgetCalls(transaction, limit);
  forgetReplies(transaction);
  forgetSessions(transaction, limit);
  transaction.database.run('DELETE FROM grant WHERE expiresAt <= ?', transaction.now);
  transaction.database.run('DELETE FROM worker WHERE expiresAt <= ?', transaction.now);
  transaction.database.run('DELETE FROM token WHERE forgetAt <= ?', transaction.now);
  transaction.database.run('DELETE FROM tokenSession WHERE expiresAt <= ?', transaction.now);
  transaction.database.run('DELETE FROM once WHERE expiresAt <= ?', transaction.now);
  forgetOwed(transaction, limit);
}

function forgetCalls({ database, lane, now }: Transaction, limit: number): void {
  const rows = database.all<{ seq: number; scope: string; bytes: number; approval: string | null }>(
    `SELECT seq, scope, bytes, approval FROM call WHERE state = 'settled' AND keepUntil <= ? ORDER BY keepUntil LIMIT ?`,
    now,
    limit,
  );
  for (const { seq, scope, bytes, approval } of rows) {
    if (approval !== null) database.run('DELETE FROM approval WHERE callSeq = ?', seq);
    dropOutcomeApart(database, seq);
    database.run('DELETE FROM call WHERE seq = ?', seq);
    lane.retain(-bytes);
    lane.subjects.change(scope, { retainedBytes: -bytes });
  }
}

function forgetReplies({ replies, file, now }: Transaction): void {
  const before = now - CALLER_GONE_MS;
  if (file.openedAt <= before) replies.forget(before);
}

function forgetSessions({ database, rows, now }: Transaction, limit: number): void {
  const before = now - ENDED_SESSION_MS;
  const ended = database.all<{ id: string }>(
    `SELECT id FROM session WHERE (expiresAt <= ?1 OR lastSeenAt + idleMs <= ?1)
       AND NOT EXISTS (SELECT 1 FROM call WHERE call.session = session.id AND call.state <> 'settled')
       AND NOT EXISTS (SELECT 1 FROM delegate WHERE delegate.delegator = session.id) LIMIT ?2`,
    before,
    limit,
  );
  for (const { id } of ended) {
    rows.dropSession(id);
    database.run('DELETE FROM run WHERE session = ?', id);
    database.run('DELETE FROM injected WHERE session = ?', id);
    database.run('DELETE FROM delegate WHERE session = ?', id);
    database.run('DELETE FROM session WHERE id = ?', id);
  }
}
