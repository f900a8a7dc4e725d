import type { ClaimAnswer, ClaimRequest } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { readCalls } from './call-row.ts';
import { deliverCalls } from './deliver-call.ts';
import { laneState } from './lane-state.ts';

/** Delivers calls in queue order. Does not wait; the store thread runs it again when the pool's queue got an entry. */
export function claimCalls(transaction: Transaction, { pool, workerId, limit }: ClaimRequest): ClaimAnswer {
  const found = transaction.database.all<{ seq: number }>(
    'SELECT seq FROM call WHERE pool = ? AND entryId IS NOT NULL AND owner IS NULL ORDER BY entryId LIMIT ?',
    pool,
    limit,
  );
  return {
    deliveries: deliverCalls(transaction, readCalls(transaction, found), workerId),
    lane: laneState(transaction),
  };
}
