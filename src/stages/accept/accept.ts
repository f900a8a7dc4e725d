import { planeError, errorOutcome } from '../../domain/errors/errors.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { runEndedByLoop } from '../../domain/identity/session-ended.ts';
import type { CallIntake } from '../../domain/ports/call-store.ts';
import type { AcceptAnswer, AcceptRequest } from '../../domain/ports/call-requests.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';

/** The result of a call request: under way, already answered, or refused with nothing stored. */
export type CallAcceptance =
  | { readonly kind: 'under-way'; readonly callId: CallId; readonly attached: boolean }
  | { readonly kind: 'replayed'; readonly callId: CallId; readonly outcome: Outcome }
  | { readonly kind: 'refused'; readonly outcome: Outcome };

/** Passes a prepared call to the store. A second request with the same key and the same arguments gets the same call. */
export function accept(request: AcceptRequest, store: CallIntake): Promise<CallAcceptance> {
  return store.acceptCall(request).then(toAcceptance);
}

const ENDING_CODES = {
  unknown: 'SESSION_UNKNOWN',
  expired: 'SESSION_EXPIRED',
  revoked: 'SESSION_REVOKED',
  'run-unknown': 'RUN_UNKNOWN',
} as const;

/** When the audit is too far behind to accept calls, stores answer `overloaded` with this word in `what`. */
const AUDIT_LATE = 'audit';

function toAcceptance(answer: AcceptAnswer): CallAcceptance {
  switch (answer.kind) {
    case 'accepted':
      return { kind: 'under-way', callId: answer.callId, attached: false };
    case 'attached':
      return { kind: 'under-way', callId: answer.callId, attached: true };
    case 'replayed':
      return { kind: 'replayed', callId: answer.callId, outcome: decodeOutcome(answer.outcome) };
    case 'conflict':
      return { kind: 'refused', outcome: errorOutcome('KEY_CONFLICT', { callId: answer.callId }) };
    case 'unauthenticated':
      return { kind: 'refused', outcome: errorOutcome(ENDING_CODES[answer.ending], {}) };
    case 'run-ended':
      return { kind: 'refused', outcome: runEndedByLoop(answer.restMs) };
    case 'overloaded': {
      const { kind: _, ...facts } = answer;
      const { what } = facts;
      if (what === AUDIT_LATE)
        return { kind: 'refused', outcome: errorOutcome('AUDIT_UNAVAILABLE', { what: 'calls' }) };
      return { kind: 'refused', outcome: errorOutcome('OVERLOADED', facts) };
    }
    case 'share-full': {
      const { kind: _, ...facts } = answer;
      return { kind: 'refused', outcome: errorOutcome('SUBJECT_SHARE_FULL', facts) };
    }
    // Thrown, not refused: the call may have run. Every store failure that leaves open whether a call ran is thrown.
    case 'known-but-full':
      throw planeError('STORE_FULL', { problem: answer.problem });
  }
}
