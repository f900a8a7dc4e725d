import type { ClaimAnswer, ReclaimRequest } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { readCalls } from './call-row.ts';
import { deliverCalls } from './deliver-call.ts';
import { laneState } from './lane-state.ts';

export function reclaimCalls(transaction: Transaction, request: ReclaimRequest): ClaimAnswer {
  const { now, file } = transaction;
  // No worker could renew while no process served the store. So leases count from the opening at the earliest, and live holders are not fenced off.
  if (now - file.openedAt < request.leaseMs) return { deliveries: [], lane: laneState(transaction) };
  const found = transaction.database.all<{ seq: number }>(
    `SELECT seq FROM call
     WHERE pool = ? AND entryId IS NOT NULL AND owner IS NOT NULL AND renewedAt <= ? ORDER BY renewedAt LIMIT ?`,
    request.pool,
    now - request.leaseMs,
    request.limit,
  );
  const calls = readCalls(transaction, found);
  return { deliveries: deliverCalls(transaction, calls, request.workerId), lane: laneState(transaction) };
}
