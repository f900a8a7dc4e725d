import type { AskAnswer, AskRequest } from '../../../ports/approval-store.ts';
import { checkAsk } from '../../check-approval.ts';
import type { CallRow, SessionRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { findApproval } from './approval-row.ts';
import { changeCall, findOwnedCall, RETURN_DELIVERY } from './call-row.ts';
import { leaveSlot } from './queue.ts';
import { findSession, sessionEnding } from './session-row.ts';

export function askApproval(transaction: Transaction, request: AskRequest): AskAnswer {
  checkAsk(request);
  const asked = findApproval(transaction, request.question.id);
  // A repeated request: it is done, whatever has become of the question since.
  if (asked !== undefined) {
    return asked.fence === request.fence ? { kind: 'asked', expiresAt: asked.expiresAt } : { kind: 'fenced' };
  }
  const call = findOwnedCall(transaction, request);
  if (call === undefined) return { kind: 'fenced' };
  if (call.cancelRequested === 1) return { kind: 'cancelled' };
  if (call.deadline <= transaction.now) return { kind: 'expired' };
  const session = findSession(transaction, call.session);
  const ending = sessionEnding(transaction, session, call.run);
  if (ending !== undefined || session === undefined) return { kind: 'session-ended', ending: ending ?? 'unknown' };
  const expiresAt = transaction.now + Math.ceil(request.timeoutMs);
  const bytes = writeQuestion(transaction, call, request, expiresAt);
  parkCall(transaction, call, session, { request, expiresAt, bytes });
  return { kind: 'asked', expiresAt };
}

function writeQuestion({ database, now }: Transaction, call: CallRow, request: AskRequest, expiresAt: number): number {
  const question = JSON.stringify(request.question);
  const bytes = Buffer.byteLength(question);
  database.run(
    `INSERT INTO approval (id, callSeq, state, question, bytes, fence, askedBy, mayHaveRun, wantsCallback, leftMs, requestedAt,
       expiresAt) VALUES (?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    request.question.id,
    call.seq,
    question,
    bytes,
    request.fence,
    request.workerId,
    request.mayHaveRun ? 1 : 0,
    request.callback ? 1 : 0,
    call.deadline - now,
    now,
    expiresAt,
  );
  return bytes;
}

interface Asked {
  readonly request: AskRequest;
  readonly expiresAt: number;
  readonly bytes: number;
}

/** Puts the call aside with its exact bytes: no worker holds it, the old fence is dead. */
function parkCall(transaction: Transaction, call: CallRow, session: SessionRow, asked: Asked): void {
  const { id } = asked.request.question;
  // A serial call keeps its turn while a person is asked; others make room for the subject's next call.
  const keepsSlot = call.serial === 1;
  changeCall(
    transaction,
    call,
    `state = 'parked', approval = ?, deadline = ?, bytes = bytes + ?, ${RETURN_DELIVERY}, entryId = NULL, holdsSlot = ?`,
    id,
    parkedUntil(asked, session),
    asked.bytes,
    keepsSlot ? call.holdsSlot : 0,
  );
  transaction.lane.liveBytes += asked.bytes;
  appendAudit(transaction, { ...call, approval: id }, 'approval.requested', asked.request.audit);
  if (!keepsSlot) leaveSlot(transaction, call);
}

/** When the reaper has to look at a parked call: nobody decided, or its session is over. */
export function parkedUntil({ expiresAt }: { readonly expiresAt: number }, session: SessionRow | undefined): number {
  return Math.min(expiresAt, session?.expiresAt ?? expiresAt);
}
