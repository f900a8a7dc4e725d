import type {
  AbandonRequest,
  OwnedCall,
  RecheckAnswer,
  RecheckRequest,
  RenewAnswer,
  RenewRequest,
} from '../../../domain/ports/call-requests.ts';
import { poolTopic, type Transaction } from '../transaction.ts';
import { changeCall, findCall, findOwnedCall, isOwned, RETURN_DELIVERY } from './call-row.ts';
import { laneState } from './lane-state.ts';
import { findSession, sessionEnding } from './session-row.ts';

export function renewCalls(transaction: Transaction, { calls }: RenewRequest): RenewAnswer[] {
  return calls.map((owned) => renewCall(transaction, owned));
}

function renewCall(transaction: Transaction, owned: OwnedCall): RenewAnswer {
  const call = findOwnedCall(transaction, owned);
  if (call === undefined) return 'fenced';
  transaction.database.run('UPDATE call SET renewedAt = ? WHERE seq = ?', transaction.now, call.seq);
  return call.cancelRequested === 1 ? 'cancel' : 'renewed';
}

/**
 * Hands a call back. The call keeps its place in the queue, so it is the next to be claimed. A start under this lease does not count,
 * because the call was handed back in an orderly way. The start mark of an unsafe tool stays, because otherwise the tool would be started
 * twice.
 */
export function abandonCall(transaction: Transaction, request: AbandonRequest): 'abandoned' | 'fenced' {
  const call = findCall(transaction, request.callId);
  if (call === undefined) return 'fenced';
  // A repeated request: the call was already handed back, whichever worker holds it now.
  if (call.abandonedFence === request.fence) return 'abandoned';
  if (!isOwned(call, request)) return 'fenced';
  const takesStartBack = call.startFence === request.fence && call.effect !== 'unsafe';
  changeCall(
    transaction,
    call,
    `abandonedFence = ?, ${RETURN_DELIVERY}, handedBack = handedBack + ?,
       starts = starts - ?, state = iif(?, 'queued', state)`,
    request.fence,
    request.handedBack ? 1 : 0,
    takesStartBack ? 1 : 0,
    takesStartBack ? 1 : 0,
  );
  transaction.wake(poolTopic(call.pool));
  return 'abandoned';
}

export function recheckSessions(transaction: Transaction, { sessions }: RecheckRequest): RecheckAnswer {
  return {
    lane: laneState(transaction),
    endings: sessions.map(({ session, run }) => sessionEnding(transaction, findSession(transaction, session), run)),
  };
}
