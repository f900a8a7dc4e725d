import { DENIED_RESULT } from '../../../domain/call/attempt.ts';
import type { ApprovalQuestion, ApprovalState, Principal, Vote } from '../../../domain/policy/approval.ts';
import type { DecideAnswer, DecideRequest, RevealAnswer, RevealRequest } from '../../../domain/ports/approval-store.ts';
import { checkDecision, checkReveal } from '../../check-approval.ts';
import type { ApprovalRow, CallRow } from '../rows.ts';
import { scopeOfKey } from '../subject-uses.ts';
import type { Transaction } from '../transaction.ts';
import { appendAudit } from './append-audit.ts';
import { findApproval } from './approval-row.ts';
import { changeCall, readCalls } from './call-row.ts';
import { endApproval } from './end-approval.ts';
import { endCall } from './end-call.ts';
import { writeGrant } from './grants.ts';
import { requeueCall } from './requeue-call.ts';
import { findSession, sessionEnding } from './session-row.ts';

/** A pending approval with its question, its call, and the votes so far. */
interface Ballot {
  readonly approval: ApprovalRow;
  readonly question: ApprovalQuestion;
  readonly call: CallRow;
  readonly votes: readonly Vote[];
}

export function decideApproval(transaction: Transaction, request: DecideRequest): DecideAnswer {
  checkDecision(request);
  const approval = findApproval(transaction, request.id);
  if (approval === undefined) return { kind: 'unknown' };
  const question = JSON.parse(approval.question) as ApprovalQuestion;
  if (question.binding !== request.binding) return { kind: 'mismatch' };
  const votes = JSON.parse(approval.votes) as Vote[];
  if (approval.state !== 'pending') return repeatAnswer(approval, votes, request);
  if (!isOffered(question, request)) return { kind: 'not-offered', decisions: question.decisions };
  if (isRequester(question, request.by)) return { kind: 'not-yours' };
  const call = findParkedCall(transaction, approval);
  if (call === undefined) return { kind: 'unknown' };
  const ended = endedState(transaction, approval, call);
  if (ended !== undefined) return { kind: 'already-decided', state: ended };
  if (request.decision !== 'deny' && !hasSeenAll(approval, question, request.by)) return { kind: 'not-revealed' };
  return castVote(transaction, { approval, question, call, votes }, request);
}

/** The same principal sends the same decision again, after a lost answer or by pressing the button twice. */
function repeatAnswer(approval: ApprovalRow, votes: readonly Vote[], request: DecideRequest): DecideAnswer {
  const { state, grantId, editedArguments } = approval;
  const own = votes.some(({ by, decision }) => isSame(by, request.by) && decision === request.decision);
  const agrees = state === (request.decision === 'deny' ? 'denied' : 'allowed');
  const sameBytes = (editedArguments ?? undefined) === request.editedArguments;
  if (!own || !agrees || !sameBytes) return { kind: 'already-decided', state };
  return { kind: 'decided', state, ...(grantId === null ? {} : { grant: grantId }) };
}

/** Edited arguments are one approver's decision. They are not offered with a quorum above 1, because the other approvers have not seen them. */
function isOffered({ decisions, quorum }: ApprovalQuestion, { decision, editedArguments }: DecideRequest): boolean {
  if (!decisions.includes(decision)) return false;
  return editedArguments === undefined || (decision !== 'deny' && quorum === 1);
}

/** A question of an earlier release, which kept no list of masks, counts as masked. */
function hasSeenAll(approval: ApprovalRow, { masks }: ApprovalQuestion, by: Principal): boolean {
  return masks?.length === 0 || hasRevealed(approval, by);
}

function hasRevealed({ revealedBy }: ApprovalRow, by: Principal): boolean {
  return (JSON.parse(revealedBy) as Principal[]).some((principal) => isSame(principal, by));
}

function isRequester({ identity, requesterMayDecide }: ApprovalQuestion, by: Principal): boolean {
  return !requesterMayDecide && by.kind === 'subject' && by.name === `${identity.tenant}/${identity.subject}`;
}

function isSame(one: Principal, other: Principal): boolean {
  return one.kind === other.kind && one.name === other.name;
}

function findParkedCall(transaction: Transaction, { id, callSeq }: ApprovalRow): CallRow | undefined {
  const [call] = readCalls(transaction, [{ seq: callSeq }]);
  return call?.state === 'parked' && call.approval === id ? call : undefined;
}

/** Returns the state that the next reap will give to the approval, or undefined if it stays pending. */
function endedState(transaction: Transaction, approval: ApprovalRow, call: CallRow): ApprovalState | undefined {
  const ending = sessionEnding(transaction, findSession(transaction, call.session), call.run);
  if (ending !== undefined) return 'cancelled';
  return approval.expiresAt <= transaction.now ? 'expired' : undefined;
}

function castVote(transaction: Transaction, ballot: Ballot, request: DecideRequest): DecideAnswer {
  const { question, votes } = ballot;
  const own = votes.find(({ by }) => isSame(by, request.by));
  const missingBefore = question.quorum - votes.length;
  if (own?.decision === request.decision) return { kind: 'counted', missing: missingBefore };
  // A yes can be changed into a no, and into nothing else.
  if (own !== undefined && request.decision !== 'deny') return { kind: 'already-decided', state: 'pending' };
  const vote: Vote = {
    by: request.by,
    decision: request.decision,
    at: transaction.now,
    binding: request.editedBinding ?? request.binding,
    ...(request.comment === undefined ? {} : { comment: request.comment }),
  };
  const cast = { ...ballot, votes: [...votes, vote] };
  writeVotes(transaction, cast, request);
  if (request.decision === 'deny') return deny(transaction, cast, request);
  const missing = missingBefore - 1;
  if (missing === 0) return allow(transaction, cast, request);
  appendAudit(transaction, ballot.call, 'approval.voted', request.audit);
  return { kind: 'counted', missing };
}

function writeVotes(transaction: Transaction, { approval, call, votes }: Ballot, request: DecideRequest): void {
  const { editedArguments = null } = request;
  const bytes = editedArguments === null ? 0 : Buffer.byteLength(editedArguments);
  transaction.database.run(
    'UPDATE approval SET votes = ?, editedArguments = ?, bytes = bytes + ? WHERE id = ?',
    JSON.stringify(votes),
    editedArguments,
    bytes,
    approval.id,
  );
  if (bytes === 0) return;
  changeCall(transaction, call, 'bytes = bytes + ?', bytes);
  transaction.lane.liveBytes += bytes;
  transaction.lane.subjects.change(scopeOfKey(call.keyId), { liveBytes: bytes });
}

function deny(transaction: Transaction, { approval, call }: Ballot, request: DecideRequest): DecideAnswer {
  const mayHaveRun = approval.mayHaveRun === 1 || call.starts > 0;
  endCall(transaction, call, {
    outcome: mayHaveRun ? request.deniedMayHaveRun : request.denied,
    releaseKey: false,
    event: 'call.settled',
    audit: request.audit,
    retentionMs: request.retentionMs,
    byOwner: false,
    approvalState: 'denied',
    attempt: { session: call.session, run: call.run, ending: 'refused', result: DENIED_RESULT },
  });
  return { kind: 'decided', state: 'denied' };
}

function allow(transaction: Transaction, { approval, call, votes }: Ballot, request: DecideRequest): DecideAnswer {
  const always = votes.every(({ decision }) => decision === 'allow-always');
  endApproval(transaction, call, 'allowed', request.audit, always ? 'allow-always' : 'allow-once');
  requeueCall(transaction, call, approval, request.deadlineMs);
  const { grant } = request;
  if (!always || grant === undefined) return { kind: 'decided', state: 'allowed' };
  writeGrant(transaction, call, grant, request);
  return { kind: 'decided', state: 'allowed', grant: grant.id };
}

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
