import { describe, expect, it } from 'vitest';
import type { Policy } from '../policy/policy.ts';
import { warnOfUndeclared } from './undeclared-agent.ts';

const OPEN: Policy = { roles: {}, permissions: {}, paused: {} };
const agents = { buyer: { selection: [] }, seller: { selection: [] } };
const warnings = (policy: Partial<Policy>, agent: string, tenant = 'default'): string[] =>
  warnOfUndeclared({ ...OPEN, ...policy }, { tenant, agent });

describe('warnOfUndeclared', () => {
  it('names the agent that was probably meant', () => {
    const found = ['no agent "buyerr" is declared, so it has no tools; did you mean buyer?'];
    expect(warnings({ agents }, 'buyerr')).toStrictEqual(found);
    expect(warnings({ tenants: { acme: { agents } } }, 'buyerr', 'acme')).toStrictEqual(found);
  });

  it('guesses nothing for a name that is like no other', () => {
    expect(warnings({ agents }, 'nightly')).toStrictEqual(['no agent "nightly" is declared, so it has no tools']);
  });

  it('says nothing of a declared agent, or where none are declared', () => {
    expect(warnings({ agents }, 'buyer')).toStrictEqual([]);
    expect(warnings({}, 'buyerr')).toStrictEqual([]);
    expect(warnings({ tenants: { acme: { agents } } }, 'buyerr')).toStrictEqual([]);
    expect(
      warnings({ agents, tenants: { acme: { agents: { helper: { selection: [] } } } } }, 'helper', 'acme'),
    ).toStrictEqual([]);
  });
});
