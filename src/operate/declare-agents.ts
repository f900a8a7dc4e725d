import { findAgentWarnings, warnOfFirstAgents } from '../gate/policy/agent-warnings.ts';
import { readAgents } from '../gate/policy/read-agents.ts';
import type { Administered } from '../domain/identity/actor.ts';
import { agentsOfTenant, declaredAt, isSelecting, withAgents } from '../domain/identity/agent.ts';
import type { AgentChanges, AgentsInput, DeclaredAgents, DeclareOptions } from '../domain/identity/declared-agents.ts';
import { nearNames } from '../base/near-names.ts';
import type { Policy } from '../domain/policy/policy.ts';
import { entriesOf } from '../domain/tool/module.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { PolicyWriter } from '../domain/ports/policy-store.ts';
import { changePolicy } from './change-policy.ts';

type Needs = PolicyWriter & CatalogReader;

export const NO_AGENT_LEFT =
  'no agent is declared any more: none has tools; agents: null in a policy file ends the selecting';

/** Declares, replaces and removes agents from code. Throws POLICY_INVALID and changes nothing if any part of the input is invalid. */
export async function declareAgents(
  store: Needs,
  input: AgentsInput,
  who: Administered,
  options: DeclareOptions = {},
): Promise<DeclaredAgents> {
  return changeAgents(store, readAgents(input, nearNames, options), who);
}

/** Changes the declared agents. Agents that are not named stay, including those that another writer declares at the same time. */
export async function changeAgents(store: Needs, changes: AgentChanges, who: Administered): Promise<DeclaredAgents> {
  let before: Policy | undefined;
  const { version, policy, changed } = await changePolicy(store, who, ({ policy: current }) =>
    withChanges((before = current), changes),
  );
  const { tenant } = changes;
  const selected = tenant === undefined ? before!.agents !== undefined : isSelecting(before!, tenant);
  const selectingBegan = changed && !selected;
  return {
    policyVersion: version,
    changed,
    selectingBegan,
    declared: changes.declared,
    removed: changes.removed.filter((name) => declaredAt(before!, name, tenant) !== undefined),
    warnings: [...changes.warnings, ...(await findWarnings(store, policy, changes, selectingBegan))],
  };
}

function withChanges(current: Policy, { declared, removed, tenant }: AgentChanges): Policy {
  const known = tenant === undefined ? current.agents : agentsOfTenant(current, tenant);
  // No agents are declared, so there is none to remove. Writing an empty group of agents would leave every agent without tools.
  if (known === undefined && Object.keys(declared).length === 0) return current;
  const gone = new Set(removed);
  const agents = Object.entries({ ...known, ...declared }).filter(([name]) => !gone.has(name));
  return withAgents(current, Object.fromEntries(agents), tenant);
}

async function findWarnings(
  store: Needs,
  policy: Policy,
  { declared, tenant }: AgentChanges,
  selectingBegan: boolean,
): Promise<string[]> {
  const group = tenant === undefined ? 'agents' : `tenants.${tenant}.agents`;
  if (tenant === undefined && policy.agents !== undefined && Object.keys(policy.agents).length === 0)
    return [NO_AGENT_LEFT];
  const names = Object.keys(declared);
  if (names.length === 0) return [];
  const ids = (await store.readCatalog()).modules.flatMap(entriesOf).map(({ id }) => id);
  const warnings = findAgentWarnings(declared, ids.length === 0 ? undefined : ids, nearNames, group);
  if (Object.keys(policy.permissions).length === 0) {
    warnings.push('the policy has no permissions: nobody may use any tool until it has');
  }
  if (selectingBegan) warnings.push(warnOfFirstAgents(names, tenant));
  return warnings;
}
