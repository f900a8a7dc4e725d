import { trouble } from '../../domain/errors.ts';
import type { CallId } from '../../domain/ids.ts';
import type { CancelRequest } from '../../ports/call-store.ts';
import { encode } from '../../wire/message-pack.ts';
import { encodeOutcome } from '../../wire/outcome.ts';

/** `by`: `caller`, `agent`, or who of several it was: `operator ada`. */
export function cancelRequest(callId: CallId, retentionMs: number, by: string): CancelRequest {
  return {
    callId,
    outcome: encodeOutcome(trouble('CALL_CANCELLED', {})),
    outcomeIfHeld: encodeOutcome(trouble('CALL_CANCELLED', {}, { executed: 'unknown' })),
    outcomeIfParked: encodeOutcome(trouble('APPROVAL_ABORTED', {})),
    audit: encode({ outcome: 'cancelled', by }),
    retentionMs,
  };
}
