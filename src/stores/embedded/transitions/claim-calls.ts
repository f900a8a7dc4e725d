import type { ClaimAnswer, ClaimRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { DELIVERABLE_COLUMNS, deliverCalls, type DeliverableRow } from './deliver-call.ts';
import { laneState } from './lane-state.ts';

/** In queue order. Does not wait; the store thread asks again when the pool's queue got an entry. */
export function claimCalls(transaction: Transaction, { pool, workerId, limit }: ClaimRequest): ClaimAnswer {
  const rows = transaction.database.all<DeliverableRow>(
    `SELECT ${DELIVERABLE_COLUMNS} FROM call WHERE pool = ? AND entryId IS NOT NULL AND owner IS NULL
     ORDER BY entryId LIMIT ?`,
    pool,
    limit,
  );
  return { deliveries: deliverCalls(transaction, rows, workerId), lane: laneState(transaction) };
}
