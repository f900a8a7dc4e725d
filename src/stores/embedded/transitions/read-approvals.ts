import type { Approval, ApprovalId } from '../../../domain/policy/approval.ts';
import type { ApprovalStanding, ListApprovalsRequest } from '../../../domain/ports/approval-store.ts';
import type { Transaction } from '../transaction.ts';
import { findApproval, toApproval } from './approval-row.ts';

export function readApproval(transaction: Transaction, id: ApprovalId): Approval | undefined {
  const row = findApproval(transaction, id);
  return row === undefined ? undefined : toApproval(row);
}

const SELECT_STANDING = 'SELECT id, state, bytes, json_array_length(votes) AS votes FROM approval';

type StandingRow = ApprovalStanding & { readonly bytes: number };

/** Lists pending approvals first, then the others, without reading their questions. */
function standings({ database }: Transaction, { state, limit, skip = 0 }: ListApprovalsRequest): StandingRow[] {
  const end = skip + limit;
  const pending =
    state === undefined || state === 'pending'
      ? database.all<StandingRow>(`${SELECT_STANDING} WHERE state = 'pending' ORDER BY expiresAt, seq LIMIT ?`, end)
      : [];
  const left = end - pending.length;
  const wanted = state ?? null;
  const resolved =
    state === 'pending' || left <= 0
      ? []
      : database.all<StandingRow>(
          `${SELECT_STANDING} WHERE state <> 'pending' AND (?1 IS NULL OR state = ?1)
             ORDER BY resolvedAt DESC, seq DESC LIMIT ?2`,
          wanted,
          left,
        );
  return [...pending, ...resolved].slice(skip, end);
}

export function listApprovals(transaction: Transaction, request: ListApprovalsRequest): Approval[] {
  const { maxBytes = Number.POSITIVE_INFINITY } = request;
  const found: Approval[] = [];
  let size = 0;
  for (const { id, bytes } of standings(transaction, request)) {
    size += bytes;
    if (size > maxBytes && found.length > 0) break;
    const approval = readApproval(transaction, id);
    if (approval !== undefined) found.push(approval);
  }
  return found;
}

export function listApprovalStates(transaction: Transaction, request: ListApprovalsRequest): ApprovalStanding[] {
  return standings(transaction, request).map(({ id, state, votes }) => ({ id, state, votes }));
}

export function matchApprovals(
  { database }: Transaction,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): ApprovalId[] {
  // Compares prefixes instead of using LIKE, because ids may contain an underscore.
  const rows = database.all<{ id: ApprovalId }>(
    `SELECT id FROM approval WHERE state = 'pending' AND (substr(id, 1, ?1) = ?2 OR substr(substr(id, -22), 1, ?1) = ?2)
       ORDER BY id LIMIT ?3`,
    prefix.length,
    prefix,
    limit,
  );
  return rows.map(({ id }) => id);
}
