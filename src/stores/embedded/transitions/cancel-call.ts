import type { CancelAnswer, CancelRequest } from '../../../domain/ports/call-requests.ts';
import { decodeEnvelope } from '../../../domain/call/envelope.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { mayReach } from './agents.ts';
import { findApproval } from './approval-row.ts';
import { findBody } from './call-bytes.ts';
import { changeCall, findCall } from './call-row.ts';
import { endCall } from './end-call.ts';
import { findSession, isTokenOf, sessionEnding } from './session-row.ts';

export function cancelCall(transaction: Transaction, request: CancelRequest): CancelAnswer {
  const call = findCall(transaction, request.callId);
  if (call === undefined || !mayCancel(transaction, call, request)) return 'unknown';
  if (call.state === 'settled') return 'settled';
  if (call.state === 'running') {
    if (call.cancelRequested === 0) {
      changeCall(transaction, call, 'cancelRequested = 1');
      transaction.lane.raiseCancelSequence();
    }
    return 'cancelling';
  }
  const held = call.owner !== null;
  endCall(transaction, call, {
    outcome: chooseOutcome(transaction, call, request),
    releaseKey: false,
    event: 'call.cancelled',
    audit: request.audit,
    retentionMs: request.retentionMs,
    byOwner: false,
  });
  // The holder may be running a `read` tool. Its next renewal is fenced, so it stops.
  if (held) transaction.lane.raiseCancelSequence();
  return 'cancelled';
}

function chooseOutcome(transaction: Transaction, call: CallRow, request: CancelRequest): Uint8Array {
  // A call that a worker holds, or that was started before its approval was requested, may have run. Its outcome must not claim that nothing ran.
  if ((call.owner !== null || call.starts > 0) && !cannotHaveRun(transaction, call, request))
    return request.outcomeIfHeld;
  if (call.state !== 'parked' || call.approval === null) return request.outcome;
  const approval = findApproval(transaction, call.approval);
  return approval?.mayHaveRun === 1 ? request.outcomeIfHeld : request.outcomeIfParked;
}

/** A call that names the digest of an unsafe tool runs only after its start mark. Without a mark it cannot have run. */
function cannotHaveRun({ database }: Transaction, call: CallRow, { unsafeDigest }: CancelRequest): boolean {
  if (unsafeDigest === undefined || call.starts > 0) return false;
  const body = findBody(database, call.seq);
  const decoded = body === undefined ? undefined : decodeEnvelope(body.envelope);
  return decoded?.kind === 'envelope' && decoded.envelope.toolDigest === unsafeDigest;
}

/** A caller may cancel its own calls and those of its delegates. The calls of other agents look as if they did not exist. */
function mayCancel(transaction: Transaction, call: CallRow, { session: shown }: CancelRequest): boolean {
  if (shown === undefined) return true;
  const session = findSession(transaction, shown.id);
  if (session === undefined || !isTokenOf(session, shown.tokenDigest)) return false;
  if (sessionEnding(transaction, session) !== undefined) return false;
  return mayReach(session.identity, call.identity);
}
