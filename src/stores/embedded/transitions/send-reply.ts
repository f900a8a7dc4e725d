import type { ReplyItem, Waiter } from '../../../domain/ports/call-store.ts';
import { callerTopic, type Transaction } from '../transaction.ts';

/** Puts an item into the waiter's own queue. The item contains the waiter's correlation id. */
export function sendReply(
  { replies, lane, now, wake }: Transaction,
  callerId: Waiter['callerId'],
  item: ReplyItem,
): void {
  replies.send(callerId, { replyId: lane.nextReplyId(), item, at: now });
  wake(callerTopic(callerId));
}
