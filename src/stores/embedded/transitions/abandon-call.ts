import type { AbandonRequest } from '../../../ports/call-store.ts';
import { poolTopic, type Transaction } from '../transaction.ts';
import { changeCall, findCall, isOwned, RETURN_DELIVERY } from './call-row.ts';

/**
 * The call keeps its place, so it is the next to be claimed. A start by this very lease does not count: it was given back in
 * good order. The mark of an unsafe tool stays, or it would be started twice.
 */
export function abandonCall(transaction: Transaction, request: AbandonRequest): 'abandoned' | 'fenced' {
  const call = findCall(transaction, request.callId);
  if (call === undefined) return 'fenced';
  // A repeated request: it is done, whoever holds the call now.
  if (call.abandonedFence === request.fence) return 'abandoned';
  if (!isOwned(call, request)) return 'fenced';
  const takesStartBack = call.startFence === request.fence && call.effect !== 'unsafe';
  changeCall(
    transaction,
    call,
    `abandonedFence = ?, ${RETURN_DELIVERY}, handedBack = handedBack + ?,
       starts = starts - ?, state = iif(?, 'queued', state)`,
    request.fence,
    request.handedBack ? 1 : 0,
    takesStartBack ? 1 : 0,
    takesStartBack ? 1 : 0,
  );
  transaction.wake(poolTopic(call.pool));
  return 'abandoned';
}
