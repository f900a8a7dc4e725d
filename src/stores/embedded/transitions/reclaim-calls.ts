import type { ClaimAnswer, ReclaimRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { DELIVERABLE_COLUMNS, deliverCalls, type DeliverableRow } from './deliver-call.ts';
import { laneState } from './lane-state.ts';

export function reclaimCalls(transaction: Transaction, request: ReclaimRequest): ClaimAnswer {
  const rows = transaction.database.all<DeliverableRow>(
    `SELECT ${DELIVERABLE_COLUMNS} FROM call
     WHERE pool = ? AND entryId IS NOT NULL AND owner IS NOT NULL AND renewedAt <= ? ORDER BY renewedAt LIMIT ?`,
    request.pool,
    transaction.now - request.leaseMs,
    request.limit,
  );
  return { deliveries: deliverCalls(transaction, rows, request.workerId), lane: laneState(transaction) };
}
