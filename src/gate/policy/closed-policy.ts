import type { Policy } from '../../domain/policy/policy.ts';

/**
 * Why no call of any caller can be allowed under this policy; undefined when some call may be. A pause is not looked at: it is
 * meant to close.
 */
export function whyClosed({ permissions, rules = [], unmatched }: Policy): string | undefined {
  const opens = Object.values(permissions).some(({ allow = [], deny = [] }) => allow.length > 0 && !deny.includes('*'));
  if (!opens) return 'nothing is allowed: no permission allows a tool to anybody';
  if (unmatched === 'deny' && rules.every(({ verdict }) => verdict === 'deny'))
    return 'nothing is allowed: unmatched is deny, and no rule allows or asks';
  return undefined;
}
