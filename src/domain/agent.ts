import type { Policy } from './policy.ts';
import { selects } from './selection.ts';
import type { Identity } from './session.ts';

export type SelectionAnswer =
  | { readonly selected: true }
  /** The agent that lacks the tool: the caller itself, or one that it acts for. */
  | { readonly selected: false; readonly agent: string; readonly reason: 'agent-unknown' | 'not-selected' };

/**
 * Whether the caller's agent has this tool. A policy without `agents` does not select, permissions alone decide; one with agents
 * gives nothing to an agent it does not name. Only delegation narrows: who acts for another holds at most what that one holds.
 */
export function checkSelection(policy: Policy, toolId: string, identity: Identity): SelectionAnswer {
  if (policy.agents === undefined) return { selected: true };
  for (const agent of [identity.agent, ...(identity.delegators ?? [])]) {
    const declaration = Object.hasOwn(policy.agents, agent) ? policy.agents[agent] : undefined;
    if (declaration === undefined) return { selected: false, agent, reason: 'agent-unknown' };
    if (!selects(declaration.selection, toolId)) return { selected: false, agent, reason: 'not-selected' };
  }
  return { selected: true };
}
