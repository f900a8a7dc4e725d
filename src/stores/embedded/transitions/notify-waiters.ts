import type { NotifyRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { decodeWaiters, findOwnedCall } from './call-row.ts';
import { sendReply } from './send-reply.ts';

export function notifyWaiters(transaction: Transaction, request: NotifyRequest): void {
  const call = findOwnedCall(transaction, request);
  if (call === undefined) return;
  for (const waiter of decodeWaiters(call.waiters)) {
    if (waiter.events) sendReply(transaction, waiter, 'event', request.event);
  }
}
