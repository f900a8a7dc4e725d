import type { Principal } from '../domain/policy/approval.ts';
import { systemUser } from '../base/system-user.ts';
import { SingleOption } from './single-option.ts';

const OPERATOR = 'operator:';

/**
 * The option that names the approver. The name is not verified: a user who can open the
 * store can give any name, and the audit keeps the given one.
 */
export function asOption(): SingleOption {
  return new SingleOption(
    '--as <who>',
    'in whose name: operator:NAME (default: you), SUBJECT or TENANT/SUBJECT',
    (text) => text,
  );
}

export function readApprover(options: Readonly<Record<string, unknown>>): Principal {
  const given = options['as'] as string | undefined;
  if (given === undefined) return { kind: 'operator', name: systemUser() };
  if (given.startsWith(OPERATOR)) return { kind: 'operator', name: given.slice(OPERATOR.length) };
  return { kind: 'subject', name: given.includes('/') ? given : `default/${given}` };
}
