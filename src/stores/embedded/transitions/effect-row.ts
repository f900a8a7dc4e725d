import type { CallerId, CallId } from '../../../domain/identity/ids.ts';
import type {
  EffectKey,
  EffectKind,
  EffectOrigin,
  EffectRecord,
  EffectState,
} from '../../../domain/platform/platform-effect.ts';
import { OUTBOUND_TOPIC, type Transaction } from '../transaction.ts';
import { sendReply } from './replies.ts';

export interface EffectRow {
  readonly seq: number;
  readonly key: EffectKey;
  readonly callId: CallId;
  readonly kind: EffectKind;
  readonly platform: string;
  readonly channel: string;
  readonly origin: string;
  readonly state: EffectState;
  readonly attempts: number;
  readonly attemptsBefore: number;
  readonly publishedAt: number;
  readonly dueAt: number;
  readonly deliverMs: number;
  readonly expiresAt: number;
  readonly callEndsAt: number;
  readonly endedAt: number | null;
  readonly bytes: number;
  readonly body: Uint8Array | null;
  readonly answer: Uint8Array | null;
  readonly problem: string | null;
  readonly callerId: CallerId | null;
  readonly correlationId: string | null;
  readonly claimedBy: string | null;
  readonly claimId: string | null;
  readonly redeliver: number;
}

const COLUMNS = `seq, key, callId, kind, platform, channel, origin, state, attempts, attemptsBefore, publishedAt, dueAt, deliverMs,
  expiresAt, callEndsAt, endedAt, bytes, body, answer, problem, callerId, correlationId, claimedBy, claimId, redeliver`;

export const SELECT_EFFECT = `SELECT ${COLUMNS} FROM effect`;

export function findEffect({ database }: Transaction, key: EffectKey): EffectRow | undefined {
  return database.get<EffectRow>(`${SELECT_EFFECT} WHERE key = ?`, key);
}

export function toEffect(row: EffectRow): EffectRecord {
  const {
    key,
    callId,
    kind,
    platform,
    channel,
    state,
    attempts,
    attemptsBefore,
    publishedAt,
    dueAt,
    expiresAt,
    bytes,
  } = row;
  return {
    key,
    callId,
    kind,
    platform,
    channel,
    origin: JSON.parse(row.origin) as EffectOrigin,
    state,
    attempts,
    attemptsBefore,
    publishedAt,
    dueAt,
    expiresAt,
    ...(row.endedAt === null ? {} : { endedAt: row.endedAt }),
    bytes,
    ...(row.body === null ? {} : { body: row.body }),
    ...(row.answer === null ? {} : { answer: row.answer }),
    ...(row.problem === null ? {} : { problem: row.problem }),
  };
}

export interface NewEffect extends Pick<EffectRow, 'key' | 'callId' | 'kind' | 'platform' | 'channel' | 'origin'> {
  readonly body: Uint8Array;
  readonly deliverMs: number;
  readonly callEndsAt: number;
  readonly waiter?: { readonly callerId: CallerId; readonly correlationId: string } | undefined;
}

export function insertEffect({ database, now, wake }: Transaction, effect: NewEffect): void {
  const { key, callId, kind, platform, channel, origin, body, deliverMs, callEndsAt, waiter } = effect;
  database.run(
    `INSERT INTO effect (key, callId, kind, platform, channel, origin, state, publishedAt, dueAt, deliverMs, expiresAt, callEndsAt,
       bytes, body, callerId, correlationId) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?7, ?7, ?, ?, ?, ?, ?, ?, ?)`,
    key,
    callId,
    kind,
    platform,
    channel,
    origin,
    now,
    deliverMs,
    now + deliverMs,
    callEndsAt,
    body.byteLength,
    body,
    waiter?.callerId ?? null,
    waiter?.correlationId ?? null,
  );
  wake(OUTBOUND_TOPIC);
}

export interface EffectEnd {
  readonly state: 'delivered' | 'failed';
  readonly answer: Uint8Array | null;
  readonly problem: string | null;
  readonly keepBody: boolean;
}

export interface EffectRetention {
  readonly retentionMs: number;
  readonly maxKeptBytes: number;
}

/** Ends an effect. From then on the next effect of the same call can be claimed. The waiter is notified. */
export function endEffect(transaction: Transaction, row: EffectRow, end: EffectEnd, kept: EffectRetention): void {
  const { database, now, wake } = transaction;
  // The row is kept as long as the effect's call may run again. Otherwise the effect key would be free, and the message would be sent
  // twice.
  const keepUntil = Math.max(now + Math.ceil(kept.retentionMs), row.callEndsAt);
  database.run(
    `UPDATE effect SET state = ?, endedAt = ?, keepUntil = ?, answer = ?, problem = coalesce(?, problem),
       body = CASE WHEN ? THEN body END, claimedUntil = NULL WHERE seq = ?`,
    end.state,
    now,
    keepUntil,
    end.answer,
    end.problem,
    end.keepBody ? 1 : 0,
    row.seq,
  );
  if (end.keepBody) trimKept(transaction, kept.maxKeptBytes);
  if (row.callerId !== null && row.correlationId !== null) {
    const { callerId, correlationId } = row;
    sendReply(transaction, callerId, { kind: 'event', correlationId, event: new Uint8Array(0) });
  }
  wake(OUTBOUND_TOPIC);
}

/** Deletes the oldest bodies until the limit is met. The record of the effect, and how it ended, stays. */
function trimKept({ database }: Transaction, maxKeptBytes: number): void {
  const WHERE = 'endedAt IS NOT NULL AND body IS NOT NULL';
  let over =
    (database.get<{ bytes: number }>(
      `SELECT coalesce(sum(bytes), 0) AS bytes FROM effect INDEXED BY effectKept WHERE ${WHERE}`,
    )?.bytes ?? 0) - maxKeptBytes;
  while (over > 0) {
    const oldest = database.get<{ seq: number; bytes: number }>(
      `SELECT seq, bytes FROM effect INDEXED BY effectKept WHERE ${WHERE} ORDER BY endedAt LIMIT 1`,
    );
    if (oldest === undefined) return;
    database.run('UPDATE effect SET body = NULL WHERE seq = ?', oldest.seq);
    over -= oldest.bytes;
  }
}
