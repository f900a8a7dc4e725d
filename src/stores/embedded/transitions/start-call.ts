import type { StartAnswer, StartRequest } from '../../../domain/ports/call-requests.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { fenceOf, findOwnedCall } from './call-row.ts';
import { findSession, sessionEnding } from './session-row.ts';

/** A call that was started twice, and lost with its worker each time, is not started a third time: it probably kills its workers. */
const MAX_LOST_STARTS = 2;

export function startCall(transaction: Transaction, request: StartRequest): StartAnswer {
  const call = findOwnedCall(transaction, request);
  if (call === undefined) return { kind: 'fenced' };
  if (call.cancelRequested === 1) return { kind: 'cancelled' };
  if (call.deadline <= transaction.now) return { kind: 'expired' };
  const ending = sessionEnding(transaction, findSession(transaction, call.session), call.run);
  if (ending !== undefined) return { kind: 'session-ended', ending };
  // The same lease asks again, because the answer was lost: the mark was already written.
  if (call.startFence === fenceOf(call)) return { kind: 'started', starts: call.starts };
  return refuseSecondStart(call, request) ?? markStarted(transaction, call, request);
}

function refuseSecondStart(call: CallRow, request: StartRequest): StartAnswer | undefined {
  if (call.starts === 0) return undefined;
  if (call.effect === 'unsafe' || request.effect === 'unsafe') return { kind: 'may-have-run' };
  const usedUp = call.starts >= Math.min(request.maxAttempts, MAX_LOST_STARTS);
  return usedUp ? { kind: 'used-up', starts: call.starts } : undefined;
}

function markStarted(transaction: Transaction, call: CallRow, request: StartRequest): StartAnswer {
  const starts = call.starts + 1;
  call.state = 'running';
  call.starts = starts;
  call.startFence = fenceOf(call);
  call.effect = request.effect;
  transaction.database.run(
    `UPDATE call SET state = 'running', starts = ?, startFence = ?, effect = ?, renewedAt = ? WHERE seq = ?`,
    starts,
    call.startFence,
    request.effect,
    transaction.now,
    call.seq,
  );
  if (request.intent !== undefined) appendAudit(transaction, call, 'call.intended', request.intent);
  return { kind: 'started', starts };
}
