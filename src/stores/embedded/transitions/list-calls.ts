import type { CallRecord } from '../../../domain/call.ts';
import type { ListCallsRequest } from '../../../ports/call-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { CALL_COLUMNS } from './call-row.ts';
import { toRecord } from './read-call.ts';

export function listCalls({ database }: Transaction, { limit }: ListCallsRequest): CallRecord[] {
  const rows = database.all<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call INDEXED BY callDeadline WHERE state <> 'settled' ORDER BY deadline LIMIT ?`,
    limit,
  );
  return rows.map(toRecord);
}
