import type { NotifyRequest } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { decodeWaiters, findOwnedCall } from './call-row.ts';
import { sendReply } from './send-reply.ts';

export function notifyWaiters(transaction: Transaction, request: NotifyRequest): void {
  const call = findOwnedCall(transaction, request);
  if (call === undefined) return;
  for (const waiter of decodeWaiters(call.waiters)) {
    if (!waiter.events) continue;
    const { callerId, correlationId } = waiter;
    sendReply(transaction, callerId, { kind: 'event', correlationId, event: request.event });
  }
}
