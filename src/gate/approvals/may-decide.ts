import type { ApprovalQuestion, Principal } from '../../domain/approval.ts';
import { findSubject, type Policy } from '../../domain/policy.ts';

/** `approver`: sees everything and decides. `requester`: sees that it was asked. `stranger`: there is no such approval. */
export type Standing = 'approver' | 'requester' | 'stranger';

type Asked = Pick<ApprovalQuestion, 'identity' | 'approvers' | 'requesterMayDecide'>;

/**
 * Operators hold the store's credentials, with which they could write the policy itself. Everybody else has to be named by every asker,
 * in the roles of now; the requester is kept out unless the deployment says otherwise.
 */
export function standingOf(question: Asked, principal: Principal, policy: Policy): Standing {
  if (principal.kind === 'operator') return 'approver';
  const who = splitName(principal.name);
  if (who === undefined) return 'stranger';
  const isRequester = who.tenant === question.identity.tenant && who.subject === question.identity.subject;
  if (isRequester && !question.requesterMayDecide) return 'requester';
  const { approvers } = question;
  const named = approvers.length > 0 && approvers.every((list) => isNamed(policy, list, who, question));
  if (named) return 'approver';
  return isRequester ? 'requester' : 'stranger';
}

export function mayDecide(question: Asked, principal: Principal, policy: Policy): boolean {
  return standingOf(question, principal, policy) === 'approver';
}

interface Who {
  readonly tenant: string;
  readonly subject: string;
}

/** Everybody means everybody of the requester's tenant: a question shows arguments, and those are not for other tenants. */
function isNamed(policy: Policy, names: readonly string[], who: Who, { identity }: Asked): boolean {
  const meant = names.map((name) => (name === '*' ? `${identity.tenant}/*` : name));
  return findSubject(policy, meant, { ...who, agent: '' }) !== undefined;
}

/** A tenant has no slash; a subject may. */
function splitName(name: string): Who | undefined {
  const slash = name.indexOf('/');
  if (slash <= 0 || slash === name.length - 1) return undefined;
  return { tenant: name.slice(0, slash), subject: name.slice(slash + 1) };
}
