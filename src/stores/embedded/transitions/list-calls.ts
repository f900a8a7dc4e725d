import type { CallRecord } from '../../../domain/call/call.ts';
import type { CallId, WorkerId } from '../../../domain/identity/ids.ts';
import type { ListCallsRequest } from '../../../domain/ports/call-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { CALL_COLUMNS, findCall } from './call-row.ts';
import { toRecord } from './read-call.ts';

export function listCalls({ database }: Transaction, { limit }: ListCallsRequest): CallRecord[] {
  const rows = database.all<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call INDEXED BY callDeadline WHERE state <> 'settled' ORDER BY deadline LIMIT ?`,
    limit,
  );
  return rows.map(toRecord);
}

export function findHolders(transaction: Transaction, callIds: readonly CallId[]): (WorkerId | undefined)[] {
  return callIds.map((callId) => {
    const call = findCall(transaction, callId);
    if (call === undefined || call.owner === null || call.state === 'settled') return undefined;
    return call.owner as WorkerId;
  });
}
