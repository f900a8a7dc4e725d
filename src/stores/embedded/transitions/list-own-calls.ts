import type { CallRecord } from '../../../domain/call/call.ts';
import type { ListOwnCallsRequest } from '../../../domain/ports/outbound-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { CALL_COLUMNS } from './call-row.ts';
import { toRecord } from './read-call.ts';

/** Uses the index of ids: the ids of all calls of a subject have the same beginning. */
export function listOwnCalls({ database }: Transaction, { lane, scope, limit }: ListOwnCallsRequest): CallRecord[] {
  const rows = database.all<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call WHERE keyId > ? AND keyId < ? AND state <> 'settled' ORDER BY deadline LIMIT ?`,
    `${lane}.${scope}.`,
    `${lane}.${scope}/`,
    limit,
  );
  return rows.map(toRecord);
}
