import type { ReplyItem, Waiter } from '../../../ports/call-store.ts';
import { callerTopic, type Transaction } from '../transaction.ts';

/** Into the waiter's own queue, under its own correlation id. */
export function sendReply(
  transaction: Transaction,
  waiter: Waiter,
  kind: ReplyItem['kind'],
  payload: Uint8Array | null,
): void {
  const { database, lane, now } = transaction;
  database.run(
    'INSERT INTO reply VALUES (?, ?, ?, ?, ?, ?)',
    lane.nextReplyId(),
    waiter.callerId,
    waiter.correlationId,
    kind,
    payload,
    now,
  );
  transaction.wake(callerTopic(waiter.callerId));
}
