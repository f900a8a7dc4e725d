import { describe, expect, it } from 'vitest';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import { CLOSED_POLICY, type Policy } from '../domain/policy/policy.ts';
import type { Rule } from '../domain/policy/rule.ts';
import { inspectAgents, inspectRules, inspectVersion } from './inspect-policy.ts';

const LOOK = { id: 'desk.look', effect: 'read', privileged: false, inputSchema: {} };
const DESK = { modules: [{ id: 'desk', tools: [LOOK] } as unknown as ModuleDeclaration] };
const rule = (more: Partial<Rule>): Rule => ({ id: 'r', verdict: 'deny', ...more });
const withRules = (rules: readonly Rule[], more: Partial<Policy> = {}): Policy => ({
  ...CLOSED_POLICY,
  rules,
  ...more,
});
const shown = (...given: Parameters<typeof inspectRules>): string[] =>
  inspectRules(...given).map(({ state, found }) => `${state}: ${found}`);

describe('inspectVersion', () => {
  const OPEN: Policy = { ...CLOSED_POLICY, permissions: { '*': { allow: ['*'] } } };

  it('warns when nothing can be allowed, and says why', () => {
    expect(inspectVersion(3, OPEN)).toMatchObject({ state: 'ok', found: 'version 3' });
    expect(inspectVersion(0, CLOSED_POLICY)).toMatchObject({ state: 'warn', found: 'none: every tool is closed' });
    expect(inspectVersion(3, { ...OPEN, unmatched: 'deny', rules: [] })).toMatchObject({
      state: 'warn',
      found: 'version 3: nothing is allowed: unmatched is deny, and no rule allows or asks',
      fix: expect.stringContaining('sallyport policy set FILE'),
    });
  });
});

describe('inspectRules', () => {
  it('has nothing to say without rules', () => {
    expect(inspectRules(CLOSED_POLICY, DESK, [])).toEqual([]);
  });

  it('finds rules in order that are about published tools', () => {
    expect(shown(withRules([rule({ tools: ['desk.look'] })]), DESK, [])).toEqual([
      'ok: 1 rule, compared with 1 published tool',
    ]);
  });

  it('says that nothing was compared where no tool is published', () => {
    expect(shown(withRules([rule({ tools: ['desk.gone'] })]), { modules: [] }, [])).toEqual([
      'warn: 1 rule, compared with no tool: none is published',
    ]);
  });

  it('warns of a rule whose tool or agent has gone since it was set', () => {
    const rules = [rule({ tools: ['desk.gone'] }), rule({ id: 's', agents: ['robot'] })];
    const [, ...problems] = shown(withRules(rules, { agents: { main: { selection: [] } } }), DESK, []);
    expect(problems).toEqual([
      expect.stringMatching(/^warn: rule "r": .*desk\.gone/),
      expect.stringMatching(/^warn: rule "s": no agent robot is declared/),
    ]);
  });

  it('says nothing of the tools of a module that could not be loaded', () => {
    expect(shown(withRules([rule({ tools: ['bank.pay'] })]), DESK, ['bank'])).toHaveLength(1);
  });
});

const looking = (...tools: string[]) => ({ selection: [{ module: 'desk', tools }] });

it('inspectAgents has nothing to say where no tenant has agents of its own', () => {
  expect(inspectAgents({ ...CLOSED_POLICY, agents: { main: looking('gone') } }, DESK)).toEqual([]);
});

it('inspectAgents counts the agents of each tenant, and warns of what they select in vain', () => {
  const tenants = { acme: { agents: { main: looking('look'), step: looking('look', 'lok') } }, abc: { agents: {} } };
  const shown = inspectAgents({ ...CLOSED_POLICY, tenants }, DESK).map(({ state, found }) => `${state}: ${found}`);
  expect(shown).toEqual([
    'ok: declared for one tenant alone: abc: 0, acme: 2',
    'warn: tenants.abc.agents is empty: agents of this tenant have only what is declared in general',
    'warn: tenants.acme.agents.step selects desk.lok, which is not published, did you mean desk.look?',
  ]);
});
