import { findAgentWarnings } from '../gate/policy/agent-warnings.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import { entriesOf } from '../domain/tool/module.ts';
import { nearNames } from '../base/near-names.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { Check } from './check.ts';

/** Reports which tenants have agents of their own, and what these agents select that is not published. Empty if no tenant has any. */
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
