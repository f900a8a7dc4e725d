import type { Approval, ApprovalId, ApprovalQuestion, Principal, Vote } from '../../../domain/policy/approval.ts';
import type { ApprovalRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';

export const APPROVAL_COLUMNS = `id, callSeq, state, question, fence, askedBy, mayHaveRun, wantsCallback, leftMs, requestedAt,
  expiresAt, votes, revealedBy, resolvedAt, resolution, editedArguments, grantId, callback, claimedBy`;

export function findApproval({ database }: Transaction, id: ApprovalId): ApprovalRow | undefined {
  return database.get<ApprovalRow>(`SELECT ${APPROVAL_COLUMNS} FROM approval WHERE id = ?`, id);
}

export function toApproval(row: ApprovalRow): Approval {
  return {
    question: JSON.parse(row.question) as ApprovalQuestion,
    state: row.state,
    requestedAt: row.requestedAt,
    expiresAt: row.expiresAt,
    votes: JSON.parse(row.votes) as Vote[],
    revealedBy: JSON.parse(row.revealedBy) as Principal[],
    ...(row.resolvedAt === null ? {} : { resolvedAt: row.resolvedAt }),
    ...(row.resolution === null ? {} : { resolution: row.resolution }),
    ...(row.editedArguments === null ? {} : { editedArguments: row.editedArguments }),
    ...(row.grantId === null ? {} : { grant: row.grantId }),
    askedBy: row.askedBy,
    mayHaveRun: row.mayHaveRun === 1,
    callback: row.callback,
  };
}

/** Returns the bytes of all questions about a call, including edited arguments. */
export function approvalBytes({ database }: Transaction, callSeq: number): number {
  const found = database.get<{ bytes: number }>(
    'SELECT coalesce(sum(bytes), 0) AS bytes FROM approval WHERE callSeq = ?',
    callSeq,
  );
  return found?.bytes ?? 0;
}
