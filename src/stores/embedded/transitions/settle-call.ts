import type { SettleAnswer, SettleRequest } from '../../../domain/ports/call-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { findOutcome } from './call-bytes.ts';
import { fenceOf, findCall, isOwned } from './call-row.ts';
import { endCall } from './end-call.ts';

export function settleCall(transaction: Transaction, request: SettleRequest): SettleAnswer {
  const call = findCall(transaction, request.callId);
  if (call === undefined) return 'absent';
  if (call.state === 'settled') return isRepeated(transaction, call, request) ? 'settled' : 'fenced';
  if (!isOwned(call, request)) return 'fenced';
  endCall(transaction, call, {
    outcome: request.outcome,
    releaseKey: request.releaseKey,
    event: 'call.settled',
    audit: request.audit,
    retentionMs: request.retentionMs,
    byOwner: true,
    attempt: request.attempt,
  });
  return 'settled';
}

/** The same worker settles again, because the answer was lost. With another outcome it would be a second ending, and is fenced. */
function isRepeated({ database }: Transaction, call: CallRow, request: SettleRequest): boolean {
  if (call.owner !== request.workerId || fenceOf(call) !== request.fence) return false;
  const kept = findOutcome(database, call.seq);
  return kept !== undefined && Buffer.compare(kept, request.outcome) === 0;
}
