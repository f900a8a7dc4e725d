import type { Approval, ApprovalId, ApprovalState } from '../../../domain/approval.ts';
import type { ApprovalRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { APPROVAL_COLUMNS, findApproval, toApproval } from './approval-row.ts';

export function readApproval(transaction: Transaction, id: ApprovalId): Approval | undefined {
  const row = findApproval(transaction, id);
  return row === undefined ? undefined : toApproval(row);
}

const SELECT = `SELECT ${APPROVAL_COLUMNS} FROM approval`;

export function listApprovals(
  { database }: Transaction,
  { state, limit }: { readonly state?: ApprovalState; readonly limit: number },
): Approval[] {
  const pending =
    state === undefined || state === 'pending'
      ? database.all<ApprovalRow>(`${SELECT} WHERE state = 'pending' ORDER BY expiresAt, seq LIMIT ?`, limit)
      : [];
  const left = limit - pending.length;
  const wanted = state ?? null;
  const resolved =
    state === 'pending' || left <= 0
      ? []
      : database.all<ApprovalRow>(
          `${SELECT} WHERE state <> 'pending' AND (?1 IS NULL OR state = ?1) ORDER BY resolvedAt DESC, seq DESC LIMIT ?2`,
          wanted,
          left,
        );
  return [...pending, ...resolved].map(toApproval);
}

export function matchApprovals(
  { database }: Transaction,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): ApprovalId[] {
  // Compared, and not LIKE: an underscore is a letter of ids.
  const rows = database.all<{ id: ApprovalId }>(
    `SELECT id FROM approval WHERE state = 'pending' AND (substr(id, 1, ?1) = ?2 OR substr(substr(id, -22), 1, ?1) = ?2)
       ORDER BY id LIMIT ?3`,
    prefix.length,
    prefix,
    limit,
  );
  return rows.map(({ id }) => id);
}
