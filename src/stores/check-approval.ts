import { APPROVAL_DECISIONS, APPROVAL_LIMITS, type NewGrant } from '../domain/policy/approval.ts';
import { planeError } from '../domain/errors/errors.ts';
import { parseScopedId } from '../domain/identity/ids.ts';
import type { AskRequest, DecideRequest, RevealRequest } from '../domain/ports/approval-store.ts';
import { subjectScope } from '../domain/tool/digest.ts';

/**
 * Rejects a question that only a bug in the plane, or an attacker who forges requests, would send. Runs before the store reads anything.
 */
export function checkAsk({ callId, question, timeoutMs }: AskRequest): void {
  if (question.callId !== callId) refuse('the question is about another call');
  if (!isSameScope(question.id, callId)) refuse('its id is not in the scope of its call');
  const known = question.decisions.every((decision) => APPROVAL_DECISIONS.includes(decision));
  if (!known || !question.decisions.includes('deny')) refuse('its decisions must be known, and deny among them');
  if (!Number.isSafeInteger(question.quorum) || question.quorum < 1) refuse('its quorum must be 1 or more');
  if (!(timeoutMs >= 1 && timeoutMs <= APPROVAL_LIMITS.maxTimeoutMs)) refuse('its timeout is out of bounds');
}

const BINDING = /^[0-9a-f]{64}$/;

export function checkReveal({ by }: Pick<RevealRequest, 'by'>): void {
  if (by.name === '' || by.name.length > APPROVAL_LIMITS.principalLength) refuse('the name of who decides is too long');
}

export function checkDecision({ id, decision, by, grant, editedArguments, editedBinding }: DecideRequest): void {
  if (!APPROVAL_DECISIONS.includes(decision)) refuse('the decision is none of those there are');
  checkReveal({ by });
  const isEdited = editedArguments !== undefined;
  if (isEdited !== (editedBinding !== undefined)) refuse('edited arguments and their binding come together');
  if (isEdited && !BINDING.test(editedBinding!)) refuse('the binding of the edited arguments is none');
  if (grant === undefined) return;
  if (decision !== 'allow-always') refuse('only allow-always makes a grant');
  checkGrant(grant, id);
}

/**
 * Attack: a grant for another subject. The scope in the approval's id is a digest of tenant and subject, so only a grant for that subject is
 * accepted.
 */
function checkGrant({ id, tenant, subject, lifetimeMs, usesLeft }: NewGrant, approval: string): void {
  const isTheirs = parseScopedId(approval)?.scope === subjectScope(tenant, subject);
  if (!isSameScope(id, approval) || !isTheirs) refuse('the grant is not for the subject of the approval');
  if (!(lifetimeMs >= 1 && lifetimeMs <= APPROVAL_LIMITS.maxGrantMs))
    refuse('the lifetime of the grant is out of bounds');
  if (usesLeft !== undefined && !(Number.isSafeInteger(usesLeft) && usesLeft >= 1)) refuse('a grant has 1 use or more');
}

function isSameScope(id: string, other: string): boolean {
  const [one, two] = [parseScopedId(id), parseScopedId(other)];
  return (
    one !== undefined && two !== undefined && one.lane === two.lane && one.scope === two.scope && !id.includes('~')
  );
}

function refuse(problem: string): never {
  throw planeError('APPROVAL_INVALID', { problem });
}
