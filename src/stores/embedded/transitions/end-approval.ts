import type { ApprovalState, Resolution } from '../../../domain/policy/approval.ts';
import type { AuditEvent } from '../../../domain/audit/audit-record.ts';
import type { CallRow } from '../rows.ts';
import { scopeOfKey } from '../subject-uses.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { findSession, markSeen, sessionEnding } from './session-row.ts';

type ResolvedState = Exclude<ApprovalState, 'pending'>;

const ENDINGS: Record<ResolvedState, { readonly event: AuditEvent; readonly resolution: Resolution }> = {
  allowed: { event: 'approval.decided', resolution: 'allow-once' },
  denied: { event: 'approval.decided', resolution: 'deny' },
  expired: { event: 'approval.expired', resolution: 'timeout' },
  cancelled: { event: 'approval.cancelled', resolution: 'cancelled' },
};

/**
 * Ends a pending approval; every end of a question goes through here. Call it while the call is still parked. The idle expiry of the
 * session was suspended while the question was pending, so it starts again now, whatever the decision was.
 */
export function endApproval(
  transaction: Transaction,
  call: CallRow,
  state: ResolvedState,
  audit: Uint8Array,
  resolution: Resolution = ENDINGS[state].resolution,
): void {
  const { database, lane, now } = transaction;
  lane.subjects.change(scopeOfKey(call.keyId), { parkedBytes: -call.bytes, pendingApprovals: -1 });
  database.run(
    `UPDATE approval SET state = ?, resolution = ?, resolvedAt = ?, callback = iif(wantsCallback, 'waiting', 'none') WHERE id = ?`,
    state,
    resolution,
    now,
    call.approval,
  );
  const session = findSession(transaction, call.session);
  if (session !== undefined && sessionEnding(transaction, session) === undefined) markSeen(transaction, session);
  appendAudit(transaction, call, ENDINGS[state].event, audit);
}
