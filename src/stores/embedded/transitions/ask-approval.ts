import type { ShareFull, SubjectShare } from '../../../domain/call/subject-share.ts';
import type { AskAnswer, AskRequest } from '../../../domain/ports/approval-store.ts';
import { checkAsk } from '../../check-approval.ts';
import type { CallRow, SessionRow } from '../rows.ts';
import { scopeOfKey } from '../subject-uses.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { findApproval } from './approval-row.ts';
import { changeCall, findOwnedCall, RETURN_DELIVERY } from './call-row.ts';
import { leaveSlot } from './queue.ts';
import { findSession, sessionEnding } from './session-row.ts';

export function askApproval(transaction: Transaction, request: AskRequest): AskAnswer {
  checkAsk(request);
  const asked = findApproval(transaction, request.question.id);
  // A repeated request: the question was written by the first one. It may have been resolved since; the answer is the same.
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
  const question = JSON.stringify(request.question);
  const bytes = Buffer.byteLength(question);
  const full = checkShares(transaction, call, request, bytes);
  if (full !== undefined) return full;
  const expiresAt = parkedUntil({ expiresAt: transaction.now + Math.ceil(request.timeoutMs) }, session);
  const written: Asked = { request, expiresAt, question, bytes };
  writeQuestion(transaction, call, written);
  parkCall(transaction, call, written);
  return { kind: 'asked', expiresAt };
}

/** Returns which share of its subject the question would exceed; undefined if none. */
function checkShares(
  { lane }: Transaction,
  call: CallRow,
  { shares }: AskRequest,
  bytes: number,
): ShareFull | undefined {
  const use = lane.subjects.of(scopeOfKey(call.keyId));
  const full = (share: SubjectShare): ShareFull => ({ kind: 'share-full', share, limit: shares[share] });
  if (use.pendingApprovals >= shares.pendingApprovals) return full('pendingApprovals');
  if (use.parkedBytes + call.bytes + bytes > shares.parkedBytes) return full('parkedBytes');
  if (use.liveBytes + bytes > shares.liveBytes) return full('liveBytes');
  return undefined;
}

interface Asked {
  readonly request: AskRequest;
  readonly expiresAt: number;
  /** The question as it is stored, and its number of bytes. */
  readonly question: string;
  readonly bytes: number;
}

function writeQuestion({ database, now }: Transaction, call: CallRow, asked: Asked): void {
  const { request, expiresAt, question, bytes } = asked;
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
}

/** Parks the call with its exact bytes. No worker holds it any more, and the old fence is no longer valid. */
function parkCall(transaction: Transaction, call: CallRow, asked: Asked): void {
  const { id } = asked.request.question;
  // A serial call keeps its place while a person is asked, so that no later call overtakes it. Any other call frees its place for the
  // subject's next call.
  const keepsSlot = call.serial === 1;
  changeCall(
    transaction,
    call,
    `state = 'parked', approval = ?, deadline = ?, bytes = bytes + ?, ${RETURN_DELIVERY}, entryId = NULL, holdsSlot = ?`,
    id,
    asked.expiresAt,
    asked.bytes,
    keepsSlot ? call.holdsSlot : 0,
  );
  const { lane } = transaction;
  lane.liveBytes += asked.bytes;
  lane.subjects.change(scopeOfKey(call.keyId), {
    liveBytes: asked.bytes,
    parkedBytes: call.bytes + asked.bytes,
    pendingApprovals: 1,
  });
  appendAudit(transaction, { ...call, approval: id }, 'approval.requested', asked.request.audit);
  if (!keepsSlot) leaveSlot(transaction, call);
}

/**
 * When a question ends at the latest: its time is up, or its session expires. Approvers are shown this time, and the reaper looks at the parked
 * call then. A question of an earlier release may have been stored with a later end than its session's.
 */
export function parkedUntil({ expiresAt }: { readonly expiresAt: number }, session: SessionRow | undefined): number {
  return Math.min(expiresAt, session?.expiresAt ?? expiresAt);
}
