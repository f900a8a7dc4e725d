import type { ApprovalQuestion, Principal } from '../../domain/policy/approval.ts';
import { findSubject, type Policy } from '../../domain/policy/policy.ts';

/**
 * What a principal may do with a question. `approver`: sees all of it and decides. `requester`: sees only that it was asked. `stranger`:
 * gets the answer that there is no such approval.
 */
export type Standing = 'approver' | 'requester' | 'stranger';

type Asked = Pick<ApprovalQuestion, 'identity' | 'approvers' | 'requesterMayDecide'>;

/**
 * What this principal may do with the question. Operators may always decide: they hold the store's credentials and could write the policy
 * itself. Every other principal must be an approver for each asker of the question; the current members of a role count. The requester may
 * not decide unless the deployment allows it.
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

/** `*` means every subject of the requester's tenant: a question shows arguments, and other tenants must not see those. */
function isNamed(policy: Policy, names: readonly string[], who: Who, { identity }: Asked): boolean {
  const meant = names.map((name) => (name === '*' ? `${identity.tenant}/*` : name));
  return findSubject(policy, meant, { ...who, agent: '' }) !== undefined;
}

/** Splits at the first slash: a tenant's name has no slash, a subject's name may have some. */
function splitName(name: string): Who | undefined {
  const slash = name.indexOf('/');
  if (slash <= 0 || slash === name.length - 1) return undefined;
  return { tenant: name.slice(0, slash), subject: name.slice(slash + 1) };
}
