import type { Approval, ApprovalId } from '../../../domain/policy/approval.ts';
import type { WorkerId } from '../../../domain/identity/ids.ts';
import type { ClaimCallbacksRequest } from '../../../domain/ports/approval-store.ts';
import { encode } from '../../../base/message-pack.ts';
import type { ApprovalRow, CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { APPROVAL_COLUMNS, toApproval } from './approval-row.ts';
import { CALL_COLUMNS } from './call-row.ts';

const SELECT = `SELECT ${APPROVAL_COLUMNS} FROM approval`;

export function claimCallbacks(transaction: Transaction, request: ClaimCallbacksRequest): Approval[] {
  if (request.lane !== 0) return [];
  const { database } = transaction;
  const isRepeated = database.get('SELECT 1 FROM approval WHERE claimId = ? LIMIT 1', request.claimId) !== undefined;
  if (!isRepeated) takeWaiting(transaction, request);
  return database
    .all<ApprovalRow>(`${SELECT} WHERE claimId = ? AND callback = 'claimed' ORDER BY resolvedAt, seq`, request.claimId)
    .map(toApproval);
}

/**
 * Marks callbacks as claimed before the worker invokes them. If the worker is lost meanwhile, no other worker invokes them a second time.
 */
function takeWaiting(
  { database, now }: Transaction,
  { workerId, claimId, limit, leaseMs }: ClaimCallbacksRequest,
): void {
  database.run(
    `UPDATE approval SET callback = 'claimed', claimedBy = ?1, claimId = ?2, claimedUntil = ?3 WHERE seq IN (
       SELECT seq FROM approval WHERE callback = 'waiting' AND (askedBy = ?1 OR resolvedAt <= ?4
         OR NOT EXISTS (SELECT 1 FROM worker WHERE worker.workerId = approval.askedBy AND worker.expiresAt > ?5))
       ORDER BY resolvedAt, seq LIMIT ?6)`,
    workerId,
    claimId,
    now + Math.ceil(leaseMs),
    now - Math.ceil(leaseMs),
    now,
    limit,
  );
}

export function finishCallback(
  { database }: Transaction,
  { id, workerId }: { readonly id: ApprovalId; readonly workerId: WorkerId },
): void {
  database.run(
    `UPDATE approval SET callback = 'done' WHERE id = ? AND callback = 'claimed' AND claimedBy = ?`,
    id,
    workerId,
  );
}

/** Gives up callbacks that were claimed and not finished in time. They may have been invoked, so no other worker gets them. */
export function giveUpCallbacks(transaction: Transaction, limit: number): void {
  const { database, now } = transaction;
  const lost = database.all<Pick<ApprovalRow, 'id' | 'callSeq' | 'claimedBy'>>(
    `SELECT id, callSeq, claimedBy FROM approval WHERE callback = 'claimed' AND claimedUntil <= ? ORDER BY claimedUntil LIMIT ?`,
    now,
    limit,
  );
  for (const { id, callSeq, claimedBy } of lost) {
    database.run(`UPDATE approval SET callback = 'unknown' WHERE id = ?`, id);
    const call = database.get<CallRow>(`SELECT ${CALL_COLUMNS} FROM call WHERE seq = ?`, callSeq);
    if (call !== undefined) {
      appendAudit(transaction, { ...call, approval: id }, 'callback.unknown', encode({ claimedBy }));
    }
  }
}
