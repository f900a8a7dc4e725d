import type { RecheckAnswer, RecheckRequest } from '../../../domain/ports/call-store.ts';
import type { Transaction } from '../transaction.ts';
import { laneState } from './lane-state.ts';
import { findSession, sessionEnding } from './session-row.ts';

export function recheckSessions(transaction: Transaction, { sessions }: RecheckRequest): RecheckAnswer {
  return {
    lane: laneState(transaction),
    endings: sessions.map(({ session, run }) => sessionEnding(transaction, findSession(transaction, session), run)),
  };
}
