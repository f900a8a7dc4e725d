import { countNoun } from '../base/count-noun.ts';
import { nearNames } from '../base/near-names.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import { entriesOf } from '../domain/tool/module.ts';
import { findAgentWarnings } from '../gate/policy/agent-warnings.ts';
import { whyClosed } from '../gate/policy/closed-policy.ts';
import { findNameWarnings } from '../gate/policy/name-warnings.ts';
import { findRuleProblems } from '../gate/policy/rule-problems.ts';
import type { Check } from './check.ts';
import { inspectPart } from './inspect-capacity.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { FleetReader } from '../domain/ports/fleet-registry.ts';
import type { PolicyReader } from '../domain/ports/policy-store.ts';

/** Reports the version of the policy, and the names in its rules and in the agents of tenants that match nothing. */
export async function inspectPolicy(store: PolicyReader & CatalogReader & FleetReader): Promise<Check[]> {
  const { version, policy } = await store.readPolicy();
  return [inspectVersion(version, policy), ...(await inspectPart('rules', () => inspectPolicyRules(store, policy)))];
}

/** Warns when no call can be allowed: each one would be refused, and the reason of a single refusal does not say that. @internal */
export function inspectVersion(version: number, policy: Policy): Check {
  if (version === 0)
    return { name: 'policy', state: 'warn', found: 'none: every tool is closed', fix: 'sallyport policy set FILE' };
  const closed = whyClosed(policy);
  if (closed === undefined) return { name: 'policy', state: 'ok', found: `version ${version}` };
  const fix =
    'sallyport policy show, then sallyport policy set FILE. docs/rules.md has the file that takes everything back';
  return { name: 'policy', state: 'warn', found: `version ${version}: ${closed}`, fix };
}

async function inspectPolicyRules(store: CatalogReader & FleetReader, policy: Policy): Promise<Check[]> {
  const broken = (await store.listWorkers()).flatMap((worker) => worker.broken.map(({ id }) => id));
  const catalog = await store.readCatalog();
  const names = findNameWarnings(policy, nearNames).map(({ text }): Check => ({
    name: 'policy',
    state: 'warn',
    found: text,
    fix: 'sallyport policy set FILE, with the name of a declared agent',
  }));
  return [...names, ...inspectRules(policy, catalog, broken), ...inspectAgents(policy, catalog)];
}

/**
 * Checks whether the current rules still apply to something. They were compared with tools and agents when they were set, but tools and
 * agents may have been removed since. `broken`: modules that could not be loaded, so their tools are unknown.
 * @internal
 */
export function inspectRules(
  policy: Policy,
  { modules }: Pick<Catalog, 'modules'>,
  broken: readonly string[],
): Check[] {
  const count = policy.rules?.length ?? 0;
  if (count === 0) return [];
  const tools = modules.flatMap(entriesOf);
  const isPublished = tools.length > 0;
  const problems = findRuleProblems(policy, isPublished ? { tools, broken } : undefined, nearNames);
  const found = countNoun(count, 'rule');
  const summary: Check = isPublished
    ? { name: 'rules', state: 'ok', found: `${found}, compared with ${countNoun(tools.length, 'published tool')}` }
    : {
        name: 'rules',
        state: 'warn',
        found: `${found}, compared with no tool: none is published`,
        fix: 'Start a worker, then look again.',
      };
  const fix = 'sallyport policy set FILE, with the rule as it is meant or without it';
  return [summary, ...problems.map(({ text }): Check => ({ name: 'rule', state: 'warn', found: text, fix }))];
}

/** Reports which tenants have agents of their own, and what these agents select that is not published. Empty if no tenant has any. @internal */
export function inspectAgents({ tenants = {} }: Policy, { modules }: Pick<Catalog, 'modules'>): Check[] {
  const own = Object.entries(tenants).sort(([one], [other]) => (one < other ? -1 : 1));
  if (own.length === 0) return [];
  const ids = modules.flatMap(entriesOf).map(({ id }) => id);
  const counts = own.map(([tenant, { agents }]) => `${tenant}: ${Object.keys(agents).length}`).join(', ');
  const warnings = own.flatMap(([tenant, { agents }]) =>
    findAgentWarnings(agents, ids.length === 0 ? undefined : ids, nearNames, `tenants.${tenant}.agents`),
  );
  const fix = 'sallyport agents set NAME FILE --tenant TENANT, with the selection as it is meant';
  return [
    { name: 'agents of tenants', state: 'ok', found: `declared for one tenant alone: ${counts}` },
    ...warnings.map((found): Check => ({ name: 'agent', state: 'warn', found, fix })),
  ];
}
