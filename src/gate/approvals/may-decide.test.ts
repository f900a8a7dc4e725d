import { describe, expect, it } from 'vitest';
import type { Principal } from '../../domain/policy/approval.ts';
import { CLOSED_POLICY, type Policy } from '../../domain/policy/policy.ts';
import { mayDecide, standingOf } from './may-decide.ts';

const POLICY: Policy = {
  ...CLOSED_POLICY,
  roles: { reviewers: ['acme/rita', 'acme/sam'], security: ['acme/sam', 'other/eve'] },
};
const IDENTITY = { tenant: 'acme', subject: 'user/1', agent: 'helper' };
const question = (...approvers: string[][]) => ({ identity: IDENTITY, approvers, requesterMayDecide: false });
const subject = (name: string): Principal => ({ kind: 'subject', name });
const RITA = subject('acme/rita');
const SAM = subject('acme/sam');
const REQUESTER = subject('acme/user/1');

describe('mayDecide', () => {
  it('an operator may, with any approvers named', () => {
    expect(mayDecide(question(), { kind: 'operator', name: 'root' }, POLICY)).toBe(true);
    expect(mayDecide(question(['acme/rita']), { kind: 'operator', name: 'root' }, POLICY)).toBe(true);
  });

  it.each([
    ['by name', [['acme/rita']]],
    ['by role', [['role:reviewers']]],
    ['by tenant', [['acme/*']]],
    ['by everybody', [['*']]],
  ])('who is named %s may', (_how, approvers) => {
    expect(mayDecide(question(...approvers), RITA, POLICY)).toBe(true);
  });

  it('other principals may not: no name, another name, another tenant, a role of others, an unknown role', () => {
    for (const approvers of [
      [],
      [[]],
      [['acme/sam']],
      [['rita']],
      [['role:security']],
      [['role:nobody']],
      [['other/*']],
    ]) {
      expect(standingOf(question(...approvers), RITA, POLICY)).toBe('stranger');
    }
  });

  it('the approver * means all subjects of the requester’s tenant', () => {
    expect(mayDecide(question(['*']), subject('other/eve'), POLICY)).toBe(false);
    expect(mayDecide(question(['role:security']), subject('other/eve'), POLICY)).toBe(true);
  });

  it('with several askers, who decides is named by each of them', () => {
    const both = question(['role:reviewers'], ['role:security']);
    expect(mayDecide(both, SAM, POLICY)).toBe(true);
    expect(mayDecide(both, RITA, POLICY)).toBe(false);
    expect(mayDecide(both, subject('other/eve'), POLICY)).toBe(false);
    expect(mayDecide(question(['role:reviewers'], []), SAM, POLICY)).toBe(false);
  });

  it('the requester may not, even if named, unless the deployment says so', () => {
    const named = question(['*', 'acme/user/1']);
    expect(standingOf(named, REQUESTER, POLICY)).toBe('requester');
    expect(standingOf({ ...named, requesterMayDecide: true }, REQUESTER, POLICY)).toBe('approver');
    expect(standingOf({ ...question(['acme/rita']), requesterMayDecide: true }, REQUESTER, POLICY)).toBe('requester');
  });

  it('a role counts as it is now', () => {
    const without: Policy = { ...POLICY, roles: { reviewers: ['acme/sam'] } };
    expect(mayDecide(question(['role:reviewers']), RITA, without)).toBe(false);
  });

  it('a name without a tenant matches no subject', () => {
    for (const name of ['rita', '/rita', 'acme/', '']) {
      expect(standingOf(question(['*'], ['role:reviewers']), subject(name), POLICY)).toBe('stranger');
    }
  });
});
