import type { ReplyItem, TakenReply, TakeRepliesRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

/** With small outcomes only (≤ 16 KiB) an answer stays below 4 MiB. */
const MAX_REPLIES = 256;

interface ReplyRow {
  readonly replyId: number;
  readonly correlationId: string;
  readonly kind: ReplyItem['kind'];
  readonly payload: Uint8Array | null;
}

/** Does not wait; the store thread asks again when the caller got a reply. What is not acknowledged is given again. */
export function takeReplies(transaction: Transaction, { callerId, acknowledged }: TakeRepliesRequest): TakenReply[] {
  const { database, lastReads, now } = transaction;
  lastReads.set(callerId, now);
  for (const replyId of acknowledged) {
    // With the caller's own id, so that nobody deletes the replies of others by counting.
    database.run('DELETE FROM reply WHERE replyId = ? AND callerId = ?', Number(replyId), callerId);
  }
  const rows = database.all<ReplyRow>(
    'SELECT replyId, correlationId, kind, payload FROM reply WHERE callerId = ? ORDER BY replyId LIMIT ?',
    callerId,
    MAX_REPLIES,
  );
  return rows.map((row) => ({ replyId: String(row.replyId), items: [toItem(row)] }));
}

function toItem({ kind, correlationId, payload }: ReplyRow): ReplyItem {
  const bytes = payload ?? new Uint8Array(0);
  switch (kind) {
    case 'settled':
      return { kind, correlationId, outcome: bytes };
    case 'settled-by-reference':
      return { kind, correlationId };
    case 'event':
      return { kind, correlationId, event: bytes };
  }
}
