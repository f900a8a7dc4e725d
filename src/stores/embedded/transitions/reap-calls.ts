import type { CallId } from '../../../domain/identity/ids.ts';
import type { ReapAnswer, ReapRequest } from '../../../domain/ports/call-requests.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { findApproval } from './approval-row.ts';
import { parkedUntil } from './ask-approval.ts';
import { CALL_COLUMNS, callIdOf, changeCall, fenceOf } from './call-row.ts';
import { giveUpCallbacks } from './callbacks.ts';
import { findBody } from './call-bytes.ts';
import { endCall, type CallEnding } from './end-call.ts';
import { forgetStale } from './forget-stale.ts';
import { readResume } from './requeue-call.ts';
import { findSession, sessionEnding } from './session-row.ts';

/** Ends expired calls of all pools, because a call whose pool has no worker must end too. */
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
  const answer: { expired: CallId[]; overdue: CallId[] } = { expired: [], overdue: [] };
  for (const call of rows) {
    const list = mayRun(transaction, call) ? answer.overdue : answer.expired;
    if (reap(transaction, call, request)) list.push(callIdOf(call));
  }
  giveUpCallbacks(transaction, request.limit);
  forgetStale(transaction, request.limit);
  return answer;
}

/**
 * Whether the call may have run. A tool that is not unsafe is first started without a start mark. So it is certain that nothing ran only if
 * no worker ever had the call, if every worker handed it back, or if no worker has touched it since it was allowed.
 */
function mayRun(transaction: Transaction, call: CallRow): boolean {
  if (call.state === 'running' || call.starts > 0) return true;
  if (call.state === 'parked') return false;
  return call.owner !== null || (fenceOf(call) !== call.handedBack && !isUntouched(transaction, call));
}

/** True if the call was allowed, and no worker has taken it since. */
function isUntouched(transaction: Transaction, call: CallRow): boolean {
  const resumed = findBody(transaction.database, call.seq)?.resumedWith ?? null;
  return resumed !== null && readResume(resumed, fenceOf(call) + 1).untouched;
}

type Ending = Pick<CallEnding, 'outcome' | 'event' | 'approvalState'>;

function reap(transaction: Transaction, call: CallRow, request: ReapRequest): boolean {
  const ending = call.state === 'parked' ? endParked(transaction, call, request) : endLate(transaction, call, request);
  if (ending === undefined) return false;
  const { audit, retentionMs } = request;
  endCall(transaction, call, { ...ending, releaseKey: false, audit, retentionMs, byOwner: false });
  return true;
}

function endLate(transaction: Transaction, call: CallRow, request: ReapRequest): Ending {
  if (mayRun(transaction, call)) return { outcome: lostOutcome(call, request), event: 'call.expired' };
  const isLost = findBody(transaction.database, call.seq) === undefined;
  return { outcome: isLost ? request.bodyLost : request.expired, event: 'call.expired' };
}

function lostOutcome(call: CallRow, request: ReapRequest): Uint8Array {
  return call.effect === 'unsafe' ? request.mayHaveRun : request.timedOut;
}

/** Ends a parked call that was due for a check: its approval has expired, or its session has ended. If neither is true, the call stays parked. */
function endParked(transaction: Transaction, call: CallRow, request: ReapRequest): Ending | undefined {
  const approval = call.approval === null ? undefined : findApproval(transaction, call.approval);
  const session = findSession(transaction, call.session);
  const isOver = sessionEnding(transaction, session, call.run) !== undefined;
  if (approval !== undefined && !isOver && approval.expiresAt > transaction.now) {
    changeCall(transaction, call, 'deadline = ?', parkedUntil(approval, session));
    return undefined;
  }
  const mayHaveRun = call.starts > 0 || approval?.mayHaveRun === 1;
  const unknown = mayHaveRun ? lostOutcome(call, request) : undefined;
  return isOver
    ? { outcome: unknown ?? request.sessionEnded, event: 'call.settled', approvalState: 'cancelled' }
    : { outcome: unknown ?? request.approvalExpired, event: 'call.expired', approvalState: 'expired' };
}
