import type { ParkRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { changeCall, findCall, isOwned } from './call-row.ts';
import { leaveSlot } from './queue.ts';

export function parkCall(transaction: Transaction, request: ParkRequest): 'parked' | 'fenced' {
  const call = findCall(transaction, request.callId);
  if (call === undefined) return 'fenced';
  // A repeated request: this very fence became the base when the call was parked.
  if (call.state === 'parked' && call.base === request.fence) return 'parked';
  if (!isOwned(call, request)) return 'fenced';
  // A serial call keeps its turn while a person is asked; others make room for the subject's next call.
  const keepsSlot = call.serial === 1;
  changeCall(
    transaction,
    call,
    `state = 'parked', deadline = ?, base = base + deliveries, deliveries = 0, entryId = NULL, owner = NULL, holdsSlot = ?`,
    Math.ceil(request.until),
    keepsSlot ? call.holdsSlot : 0,
  );
  appendAudit(transaction, call, 'call.parked', request.audit);
  if (!keepsSlot) leaveSlot(transaction, call);
  return 'parked';
}
