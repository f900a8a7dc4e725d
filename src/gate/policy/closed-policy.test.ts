import { expect, it } from 'vitest';
import type { Policy } from '../../domain/policy/policy.ts';
import { whyClosed } from './closed-policy.ts';

const OPEN: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };
const DENY = { id: 'no', verdict: 'deny' } as const;
const ALLOW = { id: 'yes', verdict: 'allow', tools: ['notes.*'] } as const;
const NO_PERMISSION = 'nothing is allowed: no permission allows a tool to anybody';
const NO_RULE = 'nothing is allowed: unmatched is deny, and no rule allows or asks';

it.each<[string, Policy, string | undefined]>([
  ['open', OPEN, undefined],
  ['with a rule that denies', { ...OPEN, rules: [DENY] }, undefined],
  ['with unmatched: deny and a rule that allows', { ...OPEN, unmatched: 'deny', rules: [DENY, ALLOW] }, undefined],
  ['with unmatched: deny and no rule', { ...OPEN, unmatched: 'deny', rules: [] }, NO_RULE],
  ['with unmatched: deny and rules that deny', { ...OPEN, unmatched: 'deny', rules: [DENY] }, NO_RULE],
  ['without permissions', { ...OPEN, permissions: {} }, NO_PERMISSION],
  [
    'with a permission that denies everybody',
    { ...OPEN, permissions: { '*': { allow: ['ada'], deny: ['*'] } } },
    NO_PERMISSION,
  ],
])('a policy %s is closed: %j', (_, policy, why) => {
  expect(whyClosed(policy)).toBe(why);
});
