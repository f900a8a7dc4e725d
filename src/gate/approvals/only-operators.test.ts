import { describe, expect, it } from 'vitest';
import type { Policy } from '../../domain/policy/policy.ts';
import { onlyOperatorsDecide } from './only-operators.ts';

const policy: Policy = {
  roles: { reviewers: ['rita', 'acme/sam'], nobody: [] },
  permissions: {},
  paused: {},
};

const decides = (approvers: string[][], requesterMayDecide = false): 'operators' | 'people' => {
  const identity = { tenant: 'acme', subject: 'ann', agent: 'main' };
  return onlyOperatorsDecide({ identity, approvers, requesterMayDecide }, policy) ? 'operators' : 'people';
};

describe('onlyOperatorsDecide', () => {
  it.each([
    ['nobody is named', []],
    ['an asker names nobody', [[]]],
    ['a role is empty', [['role:nobody']]],
    ['a role does not exist', [['role:constructor']]],
    ['only the requester is named', [['acme/ann']]],
    ['two lists have nobody in common', [['rita'], ['acme/sam']]],
    ['one of two lists is empty', [['rita'], []]],
    ['everybody of another tenant and one of this are named', [['umbrella/*'], ['acme/sam']]],
  ])('is true when %s', (_, approvers) => expect(decides(approvers)).toBe('operators'));

  it.each([
    ['a subject', [['rita']]],
    ['a subject of another tenant', [['umbrella/ulf']]],
    ['a role with somebody in it', [['role:reviewers']]],
    ['everybody', [['*']]],
    ['everybody of a tenant', [['umbrella/*']]],
    ['somebody who is in both lists', [['role:reviewers'], ['acme/*']]],
  ])('is false when %s is named', (_, approvers) => expect(decides(approvers)).toBe('people'));

  it('counts the requester where the deployment lets them decide', () =>
    expect(decides([['acme/ann']], true)).toBe('people'));
});
