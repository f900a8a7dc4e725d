import { expect, it } from 'vitest';
import type { ModuleDeclaration } from '../domain/tool/module.ts';
import { CLOSED_POLICY } from '../domain/policy/policy.ts';
import { inspectAgents } from './inspect-agents.ts';

const DESK = { modules: [{ id: 'desk', tools: [{ id: 'desk.look' }] } as unknown as ModuleDeclaration] };
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
