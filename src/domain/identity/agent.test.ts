import { describe, expect, it } from 'vitest';
import { checkSelection, isSameAgent, namesInTenant, reaches } from './agent.ts';
import { CLOSED_POLICY, type Policy } from '../policy/policy.ts';
import { normaliseSelection } from './selection.ts';
import type { Identity } from './session.ts';

const taking = (...tools: string[]) => normaliseSelection([{ module: 'notes', tools }]);
const POLICY: Policy = {
  ...CLOSED_POLICY,
  agents: {
    main: { selection: normaliseSelection([{ module: 'notes', tools: { search: true, edit: false } }]).selection },
    member: { selection: normaliseSelection([{ setup_id: 'notes', triggers: { edit: true } }]).selection },
    both: { selection: taking('search', 'edit').selection },
  },
};

const as = (agent: string, ...delegators: string[]): Identity => ({
  tenant: 'default',
  subject: 'alice',
  agent,
  ...(delegators.length === 0 ? {} : { delegators }),
});

describe('checkSelection', () => {
  it('peers of one module do not narrow or widen each other', () => {
    const answers = ['main', 'member', 'both'].map((agent) =>
      ['search', 'edit'].filter((name) => checkSelection(POLICY, `notes.${name}`, as(agent)).selected),
    );
    expect(answers).toEqual([['search'], ['edit'], ['search', 'edit']]);
  });

  it('an agent holds at most what those it acts for hold, and the refusal names who lacks it', () => {
    expect(checkSelection(POLICY, 'notes.search', as('both', 'main'))).toEqual({ selected: true });
    const edit = checkSelection(POLICY, 'notes.edit', as('both', 'main'));
    expect(edit).toEqual({ selected: false, agent: 'main', reason: 'not-selected' });
    const search = checkSelection(POLICY, 'notes.search', as('both', 'both', 'main', 'member'));
    expect(search).toEqual({ selected: false, agent: 'member', reason: 'not-selected' });
  });

  it('who delegates gives nothing that the delegate did not select', () => {
    const answer = checkSelection(POLICY, 'notes.search', as('member', 'both'));
    expect(answer).toEqual({ selected: false, agent: 'member', reason: 'not-selected' });
  });

  describe('with agents of a tenant', () => {
    const acme = (agent: string, ...delegators: string[]): Identity => ({
      ...as(agent, ...delegators),
      tenant: 'acme',
    });
    const OWN = { acme: { agents: { main: taking('edit'), guest: taking('search') } } };
    const TENANTS: Policy = { ...POLICY, tenants: OWN };
    const has = (policy: Policy, identity: Identity): string[] =>
      ['search', 'edit'].filter((name) => checkSelection(policy, `notes.${name}`, identity).selected);

    it('takes what was declared for the tenant in place of the general declaration, and there only', () => {
      expect(has(TENANTS, acme('main'))).toEqual(['edit']);
      expect(has(TENANTS, as('main'))).toEqual(['search']);
      expect(has(TENANTS, { ...as('main'), tenant: 'other' })).toEqual(['search']);
      // The tenant has no declaration of its own for `both`, so the general one applies.
      expect(has(TENANTS, acme('both'))).toEqual(['search', 'edit']);
      expect(namesInTenant(TENANTS, 'acme')).toEqual(['both', 'guest', 'main', 'member']);
    });

    it('does not show one tenant’s agent to another', () => {
      expect(has(TENANTS, acme('guest'))).toEqual(['search']);
      for (const tenant of ['default', 'other', 'constructor']) {
        const answer = checkSelection(TENANTS, 'notes.search', { ...as('guest'), tenant });
        expect(answer).toEqual({ selected: false, agent: 'guest', reason: 'agent-unknown' });
      }
      expect(namesInTenant(TENANTS, 'default')).toEqual(['both', 'main', 'member']);
    });

    it('narrows a delegate by what its delegators declared for the tenant', () => {
      expect(has(TENANTS, acme('both', 'main'))).toEqual(['edit']);
      expect(has(TENANTS, acme('guest', 'main'))).toEqual([]);
    });

    it('selects in that tenant alone where the deployment does not select', () => {
      const { agents: _, ...open } = TENANTS;
      expect(has(open, acme('main'))).toEqual(['edit']);
      expect(has(open, acme('both'))).toEqual([]);
      expect(has(open, as('anybody'))).toEqual(['search', 'edit']);
      expect(namesInTenant(open, 'default')).toBeUndefined();
    });

    it('gives nothing where the tenant has an empty group and nothing is declared in general', () => {
      expect(has({ ...CLOSED_POLICY, tenants: { acme: { agents: {} } } }, acme('main'))).toEqual([]);
    });
  });

  it.each([
    ['nobody declared', as('stranger'), 'stranger'],
    ['named like a part of every object', as('constructor'), 'constructor'],
    ['acting for one nobody declared', as('both', 'stranger'), 'stranger'],
  ])('gives nothing to an agent %s', (_what, identity, agent) => {
    const answer = checkSelection(POLICY, 'notes.search', identity);
    expect(answer).toEqual({ selected: false, agent, reason: 'agent-unknown' });
  });

  it('a policy without agents leaves it to permissions, one with no agents has none', () => {
    expect(checkSelection(CLOSED_POLICY, 'notes.search', as('stranger'))).toEqual({ selected: true });
    expect(checkSelection({ ...CLOSED_POLICY, agents: {} }, 'notes.search', as('main')).selected).toBe(false);
  });
});

describe('reaches', () => {
  it('an agent reaches its own calls and not those of its peers', () => {
    expect(reaches(as('main'), as('main'))).toBe(true);
    expect(reaches(as('main'), as('member'))).toBe(false);
    for (const other of [{ tenant: 'acme' }, { subject: 'bob' }]) {
      expect(reaches(as('main'), { ...as('main'), ...other })).toBe(false);
    }
  });

  it('a delegator reaches what its delegates called, however many are between', () => {
    expect(reaches(as('main'), as('member', 'main'))).toBe(true);
    expect(reaches(as('main'), as('both', 'member', 'main'))).toBe(true);
    expect(reaches(as('member', 'main'), as('both', 'member', 'main'))).toBe(true);
    expect(reaches(as('member'), as('both', 'member', 'main'))).toBe(false);
  });

  it('a delegate does not reach what its delegator called, nor what it called itself for another one', () => {
    expect(reaches(as('member', 'main'), as('main'))).toBe(false);
    expect(reaches(as('main', 'main'), as('main'))).toBe(false);
    expect(reaches(as('member'), as('member', 'main'))).toBe(false);
    expect(reaches(as('member', 'both'), as('member', 'main'))).toBe(false);
  });

  it('only an agent that acts for the same agents is the same', () => {
    expect(isSameAgent(as('member', 'main'), as('member', 'main'))).toBe(true);
    expect(isSameAgent(as('main'), as('member', 'main'))).toBe(false);
  });
});
