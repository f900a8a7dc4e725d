import { describe, expect, it } from 'vitest';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import { CLOSED_POLICY, type Policy } from '../domain/policy/policy.ts';
import type { Rule } from '../domain/policy/rule.ts';
import { inspectRules } from './inspect-rules.ts';

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
