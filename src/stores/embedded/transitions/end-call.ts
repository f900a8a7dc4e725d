import { LIMITS } from '../../../domain/call/call.ts';
import type { AuditEvent } from '../../../domain/audit/audit-record.ts';
import type { SettledAttempt } from '../../../domain/ports/call-requests.ts';
import { endingDetail } from '../../../domain/audit/audit-detail.ts';
import { decodeOutcome } from '../../../domain/outcome/outcome-bytes.ts';
import type { CallRow } from '../rows.ts';
import { scopeOfKey } from '../subject-uses.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { endAttempt } from './attempts.ts';
import { approvalBytes } from './approval-row.ts';
import { dropBodyApart, fitsRow, keepOutcomeApart } from './call-bytes.ts';
import { changeCall, decodeWaiters } from './call-row.ts';
import { endApproval } from './end-approval.ts';
import { leaveSlot } from './queue.ts';
import { sendReply } from './replies.ts';

export interface CallEnding {
  readonly outcome: Uint8Array;
  readonly releaseKey: boolean;
  readonly event: AuditEvent;
  readonly audit: Uint8Array;
  readonly retentionMs: number;
  /**
   * True if the worker that holds the call ends it; its fence then stays the last one. Otherwise the call gets a higher fence, and what
   * that worker sends later is refused.
   */
  readonly byOwner: boolean;
  readonly attempt?: SettledAttempt | undefined;
  /** How the approval of a parked call ends with it. Default: cancelled. */
  readonly approvalState?: 'denied' | 'expired' | 'cancelled';
}

/**
 * Settles a call; every way to `settled` goes through here. Writes outcome, replies and audit record, ends the lease, and lets the
 * subject's next call into the queue.
 */
export function endCall(transaction: Transaction, call: CallRow, ending: CallEnding): void {
  const { database, lane, now } = transaction;
  const { outcome } = ending;
  if (call.state === 'parked') endApproval(transaction, call, ending.approvalState ?? 'cancelled', ending.audit);
  const kept = outcome.byteLength + (call.approval === null ? 0 : approvalBytes(transaction, call.seq));
  const inRow = fitsRow(outcome);
  changeCall(
    transaction,
    call,
    `state = 'settled', settledAt = ?, keepUntil = ?, releaseKey = ?, bytes = ?, base = base + ?, entryId = NULL, holdsSlot = 0,
      attempt = ?, envelope = NULL, outcome = ?`,
    now,
    now + Math.ceil(ending.retentionMs),
    ending.releaseKey ? 1 : 0,
    kept,
    ending.byOwner ? 0 : 1,
    endAttempt(transaction, call, ending.attempt),
    inRow ? outcome : null,
  );
  if (!inRow) keepOutcomeApart(database, call.seq, outcome);
  dropBodyApart(database, call);
  lane.liveCalls -= 1;
  lane.liveBytes -= call.bytes;
  lane.subjects.change(scopeOfKey(call.keyId), { liveBytes: -call.bytes, retainedBytes: kept });
  lane.retain(kept);
  const inline = outcome.byteLength <= LIMITS.inlineOutcomeBytes;
  for (const { callerId, correlationId } of decodeWaiters(call.waiters)) {
    const item = inline
      ? ({ kind: 'settled', correlationId, outcome } as const)
      : ({ kind: 'settled-by-reference', correlationId } as const);
    sendReply(transaction, callerId, item);
  }
  appendAudit(transaction, call, ending.event, ending.byOwner ? ending.audit : withEnding(ending));
  leaveSlot(transaction, call);
}

/** Adds the ending to the audit detail, because only here it is known which outcome was chosen. */
function withEnding({ audit, outcome }: CallEnding): Uint8Array {
  return Buffer.concat([audit, endingDetail(decodeOutcome(outcome))]);
}
