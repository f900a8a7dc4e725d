import type { ApprovalQuestion } from '../../domain/policy/approval.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { mayDecide } from './may-decide.ts';

type Asked = Pick<ApprovalQuestion, 'identity' | 'approvers' | 'requesterMayDecide'>;

/**
 * Whether only an operator can decide, by the current roles: no approver is named, a role is empty, the lists of several askers have no
 * principal in common, or the only principal named is the requester. There is no list of all subjects, so `TENANT/*` counts as a principal
 * who can decide.
 */
export function onlyOperatorsDecide(question: Asked, policy: Policy): boolean {
  const named = new Set(question.approvers.flat().flatMap((name) => membersOf(name, policy)));
  return ![...named].some((name) =>
    mayDecide(question, { kind: 'subject', name: examplePrincipal(name, question) }, policy),
  );
}

function membersOf(name: string, { roles }: Policy): readonly string[] {
  if (!name.startsWith('role:')) return [name];
  const role = name.slice('role:'.length);
  return Object.hasOwn(roles, role) ? roles[role]! : [];
}

/** An example of a principal that this name matches. For `*` and `TENANT/*` it is one that is not the requester. */
function examplePrincipal(name: string, { identity: { tenant, subject } }: Asked): string {
  if (name === '*') return `${tenant}/not ${subject}`;
  if (name.endsWith('/*')) return `${name.slice(0, -1)}not ${subject}`;
  return name.includes('/') ? name : `default/${name}`;
}
