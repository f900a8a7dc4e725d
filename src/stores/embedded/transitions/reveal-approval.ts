import type { ApprovalQuestion, Principal } from '../../../domain/policy/approval.ts';
import type { RevealAnswer, RevealRequest } from '../../../domain/ports/approval-store.ts';
import { checkReveal } from '../../check-approval.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { findApproval } from './approval-row.ts';
import { endedState, findParkedCall, hasRevealed, isRequester } from './decide-approval.ts';

export function revealApproval(transaction: Transaction, request: RevealRequest): RevealAnswer {
  checkReveal(request);
  const approval = findApproval(transaction, request.id);
  if (approval === undefined) return { kind: 'unknown' };
  const question = JSON.parse(approval.question) as ApprovalQuestion;
  if (question.binding !== request.binding) return { kind: 'mismatch' };
  if (approval.state !== 'pending') return { kind: 'already-decided', state: approval.state };
  if (isRequester(question, request.by)) return { kind: 'not-yours' };
  const call = findParkedCall(transaction, approval);
  if (call === undefined) return { kind: 'unknown' };
  const ended = endedState(transaction, approval, call);
  if (ended !== undefined) return { kind: 'already-decided', state: ended };
  if (hasRevealed(approval, request.by)) return { kind: 'revealed' };
  const revealedBy: Principal[] = [...(JSON.parse(approval.revealedBy) as Principal[]), request.by];
  appendAudit(transaction, call, 'approval.revealed', request.audit);
  const { database } = transaction;
  database.run('UPDATE approval SET revealedBy = ? WHERE id = ?', JSON.stringify(revealedBy), approval.id);
  return { kind: 'revealed' };
}
