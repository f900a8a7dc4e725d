import type {
  NotifyRequest,
  ReplyItem,
  TakenReply,
  TakeRepliesRequest,
  Waiter,
} from '../../../domain/ports/call-requests.ts';
import { callerTopic, type Transaction } from '../transaction.ts';
import { decodeWaiters, findOwnedCall } from './call-row.ts';

/** Puts an item into the waiter's own queue. The item contains the waiter's correlation id. */
export function sendReply(
  { replies, lane, now, wake }: Transaction,
  callerId: Waiter['callerId'],
  item: ReplyItem,
): void {
  replies.send(callerId, { replyId: lane.nextReplyId(), item, at: now });
  wake(callerTopic(callerId));
}

/** Does not wait; the store thread runs it again when the caller got a reply. */
export function takeReplies(
  { replies, now }: Transaction,
  { callerId, acknowledged }: TakeRepliesRequest,
): TakenReply[] {
  return replies.take(callerId, acknowledged, now);
}

export function notifyWaiters(transaction: Transaction, request: NotifyRequest): void {
  const call = findOwnedCall(transaction, request);
  if (call === undefined) return;
  for (const waiter of decodeWaiters(call.waiters)) {
    if (!waiter.events) continue;
    const { callerId, correlationId } = waiter;
    sendReply(transaction, callerId, { kind: 'event', correlationId, event: request.event });
  }
}
