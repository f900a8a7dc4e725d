import type { EffectKey, EffectRecord } from '../../../domain/platform/platform-effect.ts';
import type {
  ClaimedEffects,
  ClaimEffectsRequest,
  FinishEffectRequest,
  ListEffectsRequest,
  PublishEffectAnswer,
  PublishEffectRequest,
} from '../../../domain/ports/outbound-store.ts';
import type { SqlValue } from '../../sqlite/database.ts';
import { OUTBOUND_TOPIC, type Transaction } from '../transaction.ts';
import { findOwnedCall } from './call-row.ts';
import { endEffect, findEffect, insertEffect, SELECT_EFFECT, toEffect, type EffectRow } from './effect-row.ts';

export function publishEffect(transaction: Transaction, request: PublishEffectRequest): PublishEffectAnswer {
  const { key, callId, kind, platform, channel, body, waiter } = request;
  const call = findOwnedCall(transaction, request);
  if (call === undefined) return { kind: 'fenced' };
  const known = findEffect(transaction, key);
  if (known !== undefined) return answerKnown(transaction, known, request);
  if (queuedBytes(transaction) + body.byteLength > request.maxQueuedBytes) return { kind: 'full' };
  const origin = JSON.stringify(request.origin);
  const deliverMs = Math.ceil(request.deliverWithinMs);
  insertEffect(transaction, {
    key,
    callId,
    kind,
    platform,
    channel,
    origin,
    body,
    deliverMs,
    waiter,
    callEndsAt: call.deadline,
  });
  return { kind: 'published' };
}

/**
 * Answers a request whose effect key is already known: the call is run again, or an earlier answer was lost. The caller of this request
 * becomes the waiter.
 */
function answerKnown({ database }: Transaction, known: EffectRow, request: PublishEffectRequest): PublishEffectAnswer {
  const { kind, platform, channel, waiter } = request;
  if (known.kind !== kind || known.platform !== platform || known.channel !== channel) return { kind: 'conflict' };
  if (known.endedAt === null && waiter !== undefined) {
    const { callerId, correlationId } = waiter;
    database.run('UPDATE effect SET callerId = ?, correlationId = ? WHERE seq = ?', callerId, correlationId, known.seq);
  }
  return { kind: 'known', state: known.state };
}

function queuedBytes({ database }: Transaction): number {
  const sum = 'SELECT coalesce(sum(bytes), 0) AS bytes FROM effect INDEXED BY effectLive WHERE endedAt IS NULL';
  return database.get<{ bytes: number }>(sum)?.bytes ?? 0;
}

export function claimEffects(transaction: Transaction, request: ClaimEffectsRequest): ClaimedEffects {
  const { database, now } = transaction;
  if (request.lane !== 0) return { effects: [], now };
  const isRepeated = database.get('SELECT 1 FROM effect WHERE claimId = ? LIMIT 1', request.claimId) !== undefined;
  if (!isRepeated) {
    endExpired(transaction, request);
    takeFromLost(transaction, request);
    database.run(
      'DELETE FROM effect WHERE seq IN (SELECT seq FROM effect WHERE keepUntil <= ? ORDER BY keepUntil LIMIT ?)',
      now,
      request.limit,
    );
    takeDue(transaction, request);
  }
  const claimed = database.all<EffectRow>(
    `${SELECT_EFFECT} WHERE claimId = ? AND state = 'claimed' ORDER BY seq`,
    request.claimId,
  );
  return { effects: claimed.map(toEffect), now };
}

function endExpired(transaction: Transaction, request: ClaimEffectsRequest): void {
  const rows = transaction.database.all<EffectRow>(
    `${SELECT_EFFECT} WHERE state = 'queued' AND expiresAt <= ? ORDER BY expiresAt LIMIT ?`,
    transaction.now,
    request.limit,
  );
  const end = { state: 'failed', answer: null, keepBody: true } as const;
  for (const row of rows) {
    const last = row.problem === null ? '' : `; last: ${row.problem}`;
    endEffect(transaction, row, { ...end, problem: `it was not delivered in time${last}` }, request);
  }
}

/**
 * Handles claimed effects whose gateway is gone. It is unknown what that gateway did. So effects are sent again only to a platform that
 * recognises the effect key. All others, and those of the kind `call`, fail.
 */
function takeFromLost(transaction: Transaction, request: ClaimEffectsRequest): void {
  const { database, now } = transaction;
  const rows = database.all<EffectRow>(
    `${SELECT_EFFECT} WHERE state = 'claimed' AND claimedUntil <= ? ORDER BY claimedUntil LIMIT ?`,
    now,
    request.limit,
  );
  for (const row of rows) {
    if (row.redeliver === 1 && row.kind !== 'call') {
      database.run(
        `UPDATE effect SET state = 'queued', dueAt = ?, claimId = NULL, claimedUntil = NULL WHERE seq = ?`,
        now,
        row.seq,
      );
    } else {
      const problem = 'the gateway that had it was lost; it may have been delivered';
      endEffect(transaction, row, { state: 'failed', answer: null, problem, keepBody: true }, request);
    }
  }
}

/** Claims only the first effect of each call: later ones wait until it has ended. */
function takeDue({ database, now }: Transaction, request: ClaimEffectsRequest): void {
  let left = request.limit;
  for (const { name, redeliver } of request.platforms) {
    const due = database.all<{ seq: number }>(
      `SELECT seq FROM effect WHERE state = 'queued' AND platform = ? AND dueAt <= ? AND NOT EXISTS (
         SELECT 1 FROM effect AS earlier WHERE earlier.endedAt IS NULL AND earlier.callId = effect.callId AND earlier.seq < effect.seq)
       ORDER BY dueAt, seq LIMIT ?`,
      name,
      now,
      left,
    );
    for (const { seq } of due) {
      database.run(
        `UPDATE effect SET state = 'claimed', attempts = attempts + 1, claimedBy = ?, claimId = ?, claimedUntil = ?, redeliver = ?
         WHERE seq = ?`,
        request.gatewayId,
        request.claimId,
        now + Math.ceil(request.leaseMs),
        redeliver ? 1 : 0,
        seq,
      );
    }
    left -= due.length;
  }
}

export function finishEffect(transaction: Transaction, request: FinishEffectRequest): 'finished' | 'lost' {
  const { database, now, wake } = transaction;
  const { ending } = request;
  const row = findEffect(transaction, request.key);
  if (row === undefined || row.claimedBy !== request.gatewayId || row.attempts !== request.attempts) return 'lost';
  if (row.state !== 'claimed') return isRepeated(row, ending.kind) ? 'finished' : 'lost';
  if (ending.kind === 'retry') {
    const dueAt = now + Math.ceil(ending.afterMs);
    const change = `state = 'queued', dueAt = ?, problem = ?, claimId = NULL, claimedUntil = NULL`;
    database.run(`UPDATE effect SET ${change} WHERE seq = ?`, dueAt, ending.problem, row.seq);
    wake(OUTBOUND_TOPIC);
    return 'finished';
  }
  const end =
    ending.kind === 'delivered'
      ? ({ state: 'delivered', answer: ending.answer, problem: null, keepBody: ending.keep } as const)
      : ({ state: 'failed', answer: null, problem: ending.problem, keepBody: true } as const);
  endEffect(transaction, row, end, request);
  return 'finished';
}

/** The same gateway sends the same ending again, because the answer was lost. */
function isRepeated({ state }: EffectRow, said: FinishEffectRequest['ending']['kind']): boolean {
  return said === 'retry' ? state === 'queued' : state === said;
}

export function readEffect(transaction: Transaction, key: EffectKey): EffectRecord | undefined {
  const row = findEffect(transaction, key);
  return row === undefined ? undefined : toEffect(row);
}

export function listEffects({ database }: Transaction, request: ListEffectsRequest): EffectRecord[] {
  const wanted: [column: string, value: SqlValue][] = [];
  for (const column of ['platform', 'channel', 'state'] as const) {
    const value = request[column];
    if (value !== undefined) wanted.push([column, value]);
  }
  const where = wanted.map(([column]) => `${column} = ?`).join(' AND ');
  const rows = database.all<EffectRow>(
    `${SELECT_EFFECT} ${where === '' ? '' : `WHERE ${where}`} ORDER BY seq DESC LIMIT ?`,
    ...wanted.map(([, value]) => value),
    request.limit,
  );
  return rows.map(toEffect);
}

export function retryEffect(
  transaction: Transaction,
  key: EffectKey,
): 'queued' | 'not-failed' | 'body-gone' | 'unknown' {
  const { database, now, wake } = transaction;
  const row = findEffect(transaction, key);
  if (row === undefined) return 'unknown';
  if (row.state !== 'failed' || row.kind === 'call') return 'not-failed';
  if (row.body === null) return 'body-gone';
  database.run(
    `UPDATE effect SET state = 'queued', dueAt = ?1, expiresAt = ?2, endedAt = NULL, keepUntil = NULL, attemptsBefore = attempts,
       claimId = NULL WHERE seq = ?3`,
    now,
    now + row.deliverMs,
    row.seq,
  );
  wake(OUTBOUND_TOPIC);
  return 'queued';
}
