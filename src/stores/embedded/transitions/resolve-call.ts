import type { ResolveRequest } from '../../../domain/ports/call-store.ts';
import { decodeOutcome } from '../../../domain/outcome/outcome-bytes.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { findOutcome } from './call-bytes.ts';
import { changeCall, findCall } from './call-row.ts';

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
