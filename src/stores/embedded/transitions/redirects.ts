import type { CallId } from '../../../domain/identity/ids.ts';
import { effectKey, RESULT_NAME, type EffectBody } from '../../../domain/platform/platform-effect.ts';
import type { RedirectRequest, SendRedirectsRequest } from '../../../domain/ports/outbound-store.ts';
import { encode } from '../../../base/message-pack.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { mayReach } from './agents.ts';
import { findCall } from './call-row.ts';
import { findEffect, insertEffect } from './effect-row.ts';
import { findSession, isTokenOf, sessionEnding } from './session-row.ts';

/** Time between two checks of a call that has not settled. */
const LOOK_AGAIN_MS = 500;
const RESULT = encode({ kind: 'result' } satisfies EffectBody);

export function redirectCall(transaction: Transaction, request: RedirectRequest): 'redirected' | 'sent' | 'unknown' {
  const { callId, platform, channel, origin, afterMs, deliverWithinMs } = request;
  const call = findCall(transaction, callId);
  if (call === undefined || !isOwn(transaction, call, request)) return 'unknown';
  if (findEffect(transaction, effectKey(callId, RESULT_NAME)) !== undefined) return 'sent';
  transaction.database.run(
    'INSERT OR REPLACE INTO redirect VALUES (?, ?, ?, ?, ?, ?)',
    callId,
    platform,
    channel,
    JSON.stringify(origin),
    transaction.now + Math.ceil(afterMs),
    Math.ceil(deliverWithinMs),
  );
  return 'redirected';
}

/** True for a call of the session's agent or of its delegates. The call of another agent looks as if it did not exist. */
function isOwn(transaction: Transaction, call: CallRow, { session: shown }: RedirectRequest): boolean {
  const session = findSession(transaction, shown.id);
  if (session === undefined || !isTokenOf(session, shown.tokenDigest)) return false;
  return sessionEnding(transaction, session) === undefined && mayReach(session.identity, call.identity);
}

export function dropRedirect({ database }: Transaction, callId: CallId): 'dropped' | 'none' {
  if (database.get('SELECT 1 FROM redirect WHERE callId = ?', callId) === undefined) return 'none';
  database.run('DELETE FROM redirect WHERE callId = ?', callId);
  return 'dropped';
}

interface RedirectRow {
  readonly callId: CallId;
  readonly platform: string;
  readonly channel: string;
  readonly origin: string;
  readonly deliverMs: number;
}

export function sendRedirects(transaction: Transaction, request: SendRedirectsRequest): number {
  if (request.lane !== 0) return 0;
  const { database, now } = transaction;
  const due = database.all<RedirectRow>(
    'SELECT callId, platform, channel, origin, deliverMs FROM redirect WHERE lookAt <= ? ORDER BY lookAt LIMIT ?',
    now,
    request.limit,
  );
  let sent = 0;
  for (const { callId, ...redirect } of due) {
    const call = findCall(transaction, callId);
    if (call !== undefined && call.state !== 'settled') {
      database.run('UPDATE redirect SET lookAt = ? WHERE callId = ?', now + LOOK_AGAIN_MS, callId);
      continue;
    }
    database.run('DELETE FROM redirect WHERE callId = ?', callId);
    const key = effectKey(callId, RESULT_NAME);
    if (call === undefined || findEffect(transaction, key) !== undefined) continue;
    insertEffect(transaction, { key, callId, kind: 'result', ...redirect, body: RESULT, callEndsAt: now });
    sent += 1;
  }
  return sent;
}
