import type { TakenReply, TakeRepliesRequest } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

/** Does not wait; the store thread runs it again when the caller got a reply. */
export function takeReplies(
  { replies, now }: Transaction,
  { callerId, acknowledged }: TakeRepliesRequest,
): TakenReply[] {
  return replies.take(callerId, acknowledged, now);
}
