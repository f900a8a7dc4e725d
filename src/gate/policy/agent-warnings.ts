import { splitToolId, toolId } from '../../domain/identity/ids.ts';
import { ALL_MODULES, selects, type AgentDeclaration } from '../../domain/identity/selection.ts';
import type { NearNames } from '../../base/settings/describe-issue.ts';

interface Known {
  readonly tools: ReadonlySet<string>;
  readonly modules: ReadonlySet<string>;
}

const EMPTY = {
  general: 'no agent has any tool; agents: null leaves it to the permissions',
  tenant: 'agents of this tenant have only what is declared in general',
};

/**
 * Warns when the first agents are declared. Before that, every agent had the tools that the permissions allow; now undeclared agents have
 * none.
 */
export function warnOfFirstAgents(names: readonly string[], tenant?: string): string {
  const first = names.length === 1 ? `${names[0]} is the first agent` : `${names.join(', ')} are the first agents`;
  const where = tenant === undefined ? '' : ` of tenant ${tenant}`;
  return `${first}${where}: all others${where} have no tools until they are declared too`;
}

/**
 * Finds selections that name unknown tools or modules, or that select nothing. Without `ids` of published tools nothing is compared with
 * the catalog.
 */
export function findAgentWarnings(
  agents: Readonly<Record<string, AgentDeclaration>>,
  ids: readonly string[] | undefined,
  near: NearNames,
  /** Where the agents are declared in the policy. */
  group = 'agents',
): string[] {
  const known = ids === undefined ? undefined : { tools: new Set(ids), modules: modulesOf(ids) };
  const names = Object.keys(agents);
  if (names.length === 0) return [`${group} is empty: ${EMPTY[group === 'agents' ? 'general' : 'tenant']}`];
  return names.flatMap((name) => {
    const { selection } = agents[name]!;
    const where = `${group}.${name}`;
    if (selection.every(({ tools }) => tools.length === 0)) return [`${where} selects nothing: it has no tools`];
    if (known === undefined) return [];
    const unknown = selection.flatMap((entry) => findUnknown(where, entry, known, near));
    const matches = ids!.some((id) => selects(selection, id));
    return matches ? unknown : [...unknown, `${where} has no tools: its selection matches nothing that is published`];
  });
}

function findUnknown(
  where: string,
  { module, tools }: AgentDeclaration['selection'][number],
  known: Known,
  near: NearNames,
): string[] {
  if (module === ALL_MODULES) return [];
  if (!known.modules.has(module)) {
    return [`${where} selects module ${module}, which is not published${guess(module, known.modules, near)}`];
  }
  if (tools === 'all') return [];
  return tools
    .map((tool) => toolId(module, tool))
    .filter((id) => !known.tools.has(id))
    .map((id) => `${where} selects ${id}, which is not published${guess(id, known.tools, near)}`);
}

function guess(name: string, known: Iterable<string>, near: NearNames): string {
  const [found] = near(name, known, 1);
  return found === undefined ? '' : `, did you mean ${found}?`;
}

function modulesOf(ids: readonly string[]): Set<string> {
  return new Set(ids.flatMap((id) => splitToolId(id)?.module ?? []));
}
