import { decodeOutcome } from '../../../domain/outcome/outcome-bytes.ts';
import type { ResolveRequest, SettleAnswer, SettleRequest } from '../../../domain/ports/call-requests.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { findOutcome } from './call-bytes.ts';
import { changeCall, fenceOf, findCall, isOwned } from './call-row.ts';
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

/** The first resolution counts. The same resolution again changes nothing. */
export function resolveCall(
  transaction: Transaction,
  { callId, resolution, audit }: ResolveRequest,
): 'resolved' | 'not-indeterminate' | 'unknown' {
  const call = findCall(transaction, callId);
  if (call === undefined) return 'unknown';
  if (call.resolution !== null) return call.resolution === resolution ? 'resolved' : 'not-indeterminate';
  if (!isIndeterminate(transaction, call)) return 'not-indeterminate';
  changeCall(transaction, call, 'resolution = ?', resolution);
  appendAudit(transaction, call, 'call.resolved', audit);
  return 'resolved';
}

function isIndeterminate({ database }: Transaction, call: CallRow): boolean {
  const outcome = findOutcome(database, call.seq);
  if (outcome === undefined) return false;
  try {
    return decodeOutcome(outcome).kind === 'indeterminate';
  } catch {
    return false;
  }
}
