import type { ReapAnswer, ReapRequest } from '../../../ports/call-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { CALL_COLUMNS, callIdOf } from './call-row.ts';
import { findBody } from './deliver-call.ts';
import { endCall } from './end-call.ts';
import { forgetStale } from './forget-stale.ts';

/** Calls of all pools: one whose pool has no worker must end too. */
export function reapCalls(transaction: Transaction, request: ReapRequest): ReapAnswer {
  const rows = transaction.database.all<CallRow>(
    `SELECT ${CALL_COLUMNS} FROM call INDEXED BY callDeadline
     WHERE state <> 'settled' AND deadline <= ?1
       AND (state = 'parked' OR (state = 'queued' AND owner IS NULL) OR deadline <= ?1 - ?2)
     ORDER BY deadline LIMIT ?3`,
    transaction.now,
    request.overdueMs,
    request.limit,
  );
  const expired = rows.filter((call) => !mayRun(call));
  const overdue = rows.filter(mayRun);
  for (const call of rows) reap(transaction, call, chooseOutcome(transaction, call, request), request);
  forgetStale(transaction, request.limit);
  return { expired: expired.map(callIdOf), overdue: overdue.map(callIdOf) };
}

/** A lost first run leaves no mark: only of a call that was never anybody's, or that all handed back, is it known that nothing ran. */
function mayRun(call: CallRow): boolean {
  if (call.state === 'running' || call.starts > 0) return true;
  return call.state !== 'parked' && (call.base !== call.handedBack || call.owner !== null);
}

function chooseOutcome(transaction: Transaction, call: CallRow, request: ReapRequest): Uint8Array {
  if (mayRun(call)) return call.effect === 'unsafe' ? request.mayHaveRun : request.timedOut;
  return findBody(transaction, call.seq) === undefined ? request.bodyLost : request.expired;
}

function reap(transaction: Transaction, call: CallRow, outcome: Uint8Array, request: ReapRequest): void {
  endCall(transaction, call, {
    outcome,
    releaseKey: false,
    event: 'call.expired',
    audit: request.audit,
    retentionMs: request.retentionMs,
    byOwner: false,
  });
}
