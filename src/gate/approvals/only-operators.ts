import type { ApprovalQuestion } from '../../domain/approval.ts';
import type { Policy } from '../../domain/policy.ts';
import { mayDecide } from './may-decide.ts';

type Asked = Pick<ApprovalQuestion, 'identity' | 'approvers' | 'requesterMayDecide'>;

/**
 * Whether nobody but an operator can decide, in the roles of now: no approver is named, a role is empty, the lists of several askers
 * have nobody in common, or the only one named is the requester. Subjects are not listed anywhere, so `TENANT/*` counts as somebody.
 */
export function onlyOperatorsDecide(question: Asked, policy: Policy): boolean {
  const named = new Set(question.approvers.flat().flatMap((name) => membersOf(name, policy)));
  return ![...named].some((name) =>
    mayDecide(question, { kind: 'subject', name: somebodyCalled(name, question) }, policy),
  );
}

function membersOf(name: string, { roles }: Policy): readonly string[] {
  if (!name.startsWith('role:')) return [name];
  const role = name.slice('role:'.length);
  return Object.hasOwn(roles, role) ? roles[role]! : [];
}

/** One principal whom the name means; of everybody, one who is not the requester. */
function somebodyCalled(name: string, { identity: { tenant, subject } }: Asked): string {
  if (name === '*') return `${tenant}/not ${subject}`;
  if (name.endsWith('/*')) return `${name.slice(0, -1)}not ${subject}`;
  return name.includes('/') ? name : `default/${name}`;
}
