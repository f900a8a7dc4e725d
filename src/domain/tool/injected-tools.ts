import { checkSelection, type SelectionAnswer } from '../identity/agent.ts';
import { indexTools, type Catalog, type PublishedTool } from './catalog.ts';
import { checkPermission, type Policy } from '../policy/policy.ts';
import type { Identity, InjectedGrant } from '../identity/session.ts';
import type { MissingTool, Toolkit } from './toolkit.ts';

/**
 * Max number of tools that calls can add to one run. Without it, a tool that keeps adding tools would make the session's record grow
 * without bound.
 */
export const MAX_INJECTED = 100;

interface AskedTool {
  readonly id: string;
  readonly privileged: boolean;
}

/**
 * Whether a tool that the selection refused could be allowed because another tool added it to the run. Possible only if the refusal is
 * about the caller's own selection: an agent that acts for others has at most their tools, and an agent that is not declared has none.
 * Never possible for a privileged tool, which the policy must name.
 */
export function mayBeInjected(refused: SelectionAnswer, { privileged }: AskedTool, identity: Identity): boolean {
  return !refused.selected && refused.reason === 'not-selected' && refused.agent === identity.agent && !privileged;
}

/**
 * Selection within one run: the tools that the agent selected, and the tools that one of those has added to the run. Tools added by an
 * added tool do not count, so that a selection cannot grow step by step. Permission is checked separately, as always.
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
 * The toolkit of one run: the agent's own tools, and those that were added to that run (`injected`). Uses the same check as the execution
 * of calls, so that the model sees exactly what it may call.
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
