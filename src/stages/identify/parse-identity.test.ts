import { describe, expect, it } from 'vitest';
import { SAMPLE_IDENTITY, sampleDeclaration } from '../../../test/support/sample-call.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { decideAccess, parseIdentity } from './parse-identity.ts';

const policyFor = (tools: readonly string[]): Policy => ({
  roles: {},
  permissions: { '*': { allow: ['*'] } },
  paused: {},
  agents: { main: { selection: [{ module: 'notes', tools }] } },
});
const ADD = sampleDeclaration();

describe('decideAccess', () => {
  it('works a question out once for one policy', () => {
    const policy = policyFor(['add']);
    const first = decideAccess(policy, ADD, SAMPLE_IDENTITY);
    expect(first).toMatchObject({ selection: { selected: true }, permission: { allowed: true } });
    expect(decideAccess(policy, ADD, SAMPLE_IDENTITY)).toBe(first);
  });

  it('asks again when the policy is another one', () => {
    expect(decideAccess(policyFor(['add']), ADD, SAMPLE_IDENTITY).selection.selected).toBe(true);
    expect(decideAccess(policyFor([]), ADD, SAMPLE_IDENTITY).selection.selected).toBe(false);
  });

  it('keeps the answers of two identities and two definitions of a tool apart', () => {
    const policy: Policy = { ...policyFor(['add']), permissions: { '*': { allow: ['*'] } } };
    const other = { ...SAMPLE_IDENTITY, agent: 'other' };
    const privileged = sampleDeclaration({ privileged: true, digest: 'privileged' });
    expect(decideAccess(policy, ADD, SAMPLE_IDENTITY).selection.selected).toBe(true);
    expect(decideAccess(policy, ADD, other).selection.selected).toBe(false);
    expect(decideAccess(policy, ADD, SAMPLE_IDENTITY).permission.allowed).toBe(true);
    expect(decideAccess(policy, privileged, SAMPLE_IDENTITY).permission.allowed).toBe(false);
  });
});

describe('parseIdentity', () => {
  it('gives one frozen object for one text', () => {
    const text = JSON.stringify({ ...SAMPLE_IDENTITY, delegators: ['boss'] });
    const identity = parseIdentity(text);
    expect(parseIdentity(text)).toBe(identity);
    expect(() => (identity.delegators as string[]).pop()).toThrow(TypeError);
    expect(() => Object.assign(identity, { agent: 'boss' })).toThrow(TypeError);
  });
});
