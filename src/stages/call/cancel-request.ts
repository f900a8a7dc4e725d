import type { CancelledBy } from '../../domain/cancelled-by.ts';
import { trouble } from '../../domain/errors.ts';
import type { CallId } from '../../domain/ids.ts';
import type { CancelRequest } from '../../ports/call-store.ts';
import { encode } from '../../wire/message-pack.ts';
import { encodeOutcome } from '../../wire/outcome.ts';

/** `by` is in the outcome; `name`, for the audit, says who of several it was: `operator ada`. */
export function cancelRequest(
  callId: CallId,
  retentionMs: number,
  by: CancelledBy,
  name: string = by === 'request' ? 'caller' : by,
): CancelRequest {
  return {
    callId,
    outcome: encodeOutcome(trouble('CALL_CANCELLED', { by })),
    outcomeIfHeld: encodeOutcome(trouble('CALL_CANCELLED', { by }, { executed: 'unknown' })),
    outcomeIfParked: encodeOutcome(trouble('APPROVAL_ABORTED', { by })),
    audit: encode({ outcome: 'cancelled', by: name }),
    retentionMs,
  };
}
