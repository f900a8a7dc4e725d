import type { AbandonRequest } from '../../../ports/call-store.ts';
import { poolTopic, type Transaction } from '../transaction.ts';
import { findCall, isOwned } from './call-row.ts';

/**
 * The call keeps its place, so it is the next to be claimed. A start mark stays too: whoever gets the call must know
 * that it was running, or an unsafe tool would be started twice.
 */
export function abandonCall(transaction: Transaction, request: AbandonRequest): 'abandoned' | 'fenced' {
  const call = findCall(transaction, request.callId);
  if (call === undefined) return 'fenced';
  // A repeated request: this very fence became the base, and nobody has claimed the call since.
  if (call.entryId !== null && call.owner === null && call.base === request.fence) return 'abandoned';
  if (!isOwned(call, request)) return 'fenced';
  transaction.database.run(
    'UPDATE call SET base = base + deliveries, deliveries = 0, owner = NULL, handedBack = max(handedBack, ?) WHERE seq = ?',
    request.handedBack ? 1 : 0,
    call.seq,
  );
  transaction.wake(poolTopic(call.pool));
  return 'abandoned';
}
