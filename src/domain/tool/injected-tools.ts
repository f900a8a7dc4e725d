import { checkSelection, type SelectionAnswer } from '../identity/agent.ts';
import { indexTools, type Catalog, type PublishedTool } from './catalog.ts';
import { checkPermission, type Policy } from '../policy/policy.ts';
import type { Identity, InjectedGrant } from '../identity/session.ts';
import type { MissingTool, Toolkit } from './toolkit.ts';

/** Max number of offers that one run can hold. A tool that keeps offering tools must not make the session's record grow without bound. */
export const MAX_INJECTED = 100;

interface AskedTool {
  readonly id: string;
  readonly privileged: boolean;
}

/**
 * Whether an offer could make up for this refusal. It can only for the caller's own selection: an agent that acts for others has at most
 * what they have, and an agent that is not declared has nothing. It never can for a privileged tool: those are opened by name.
 */
export function mayBeInjected(refused: SelectionAnswer, { privileged }: AskedTool, identity: Identity): boolean {
  return !refused.selected && refused.reason === 'not-selected' && refused.agent === identity.agent && !privileged;
}

/**
 * Selection within one run: the tools that the agent selected, and the tools offered by a tool that the agent has selected now. An offer of
 * an offered tool does not count, so that a selection cannot grow step by step. Permission is checked separately, as always.
 */
export function checkRunSelection(
  policy: Policy,
  tool: AskedTool,
  identity: Identity,
  injected: readonly InjectedGrant[],
): SelectionAnswer {
  const own = checkSelection(policy, tool.id, identity);
  if (!mayBeInjected(own, tool, identity)) return own;
  const [nearest, ...further] = identity.delegators ?? [];
  if (nearest !== undefined) {
    const held = checkSelection(policy, tool.id, { ...identity, agent: nearest, delegators: further });
    if (!held.selected) return held;
  }
  const isOffered = injected.some(
    (grant) => grant.tool === tool.id && checkSelection(policy, grant.by, identity).selected,
  );
  return isOffered ? { selected: true } : own;
}

/**
 * The toolkit of one run: the agent's own tools and those that were offered in that run. Uses the same rule as the execution. `injected`
 * are the offers of that run.
 */
export function addInjected(
  toolkit: Toolkit,
  catalog: Catalog,
  policy: Policy,
  identity: Identity,
  injected: readonly InjectedGrant[],
): Toolkit {
  if (injected.length === 0) return toolkit;
  const published = indexTools(catalog);
  const known = new Set<string>(toolkit.tools.map(({ tool }) => tool.id));
  const added = [...new Set(injected.map(({ tool }) => tool))]
    .map((id) => published.get(id))
    .filter((found): found is PublishedTool => found !== undefined && !known.has(found.tool.id))
    .filter(({ tool }) => checkRunSelection(policy, tool, identity, injected).selected)
    .filter(({ tool }) => checkPermission(policy, tool, identity).allowed);
  if (added.length === 0) return toolkit;
  const has = new Set<string>(added.map(({ tool }) => tool.id));
  return {
    tools: [...toolkit.tools, ...added].sort((a, b) => (a.tool.id < b.tool.id ? -1 : 1)),
    get missing(): readonly MissingTool[] {
      return toolkit.missing.filter(({ tool }) => !has.has(tool));
    },
  };
}
