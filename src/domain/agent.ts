import type { Policy } from './policy.ts';
import { selects, type AgentDeclaration } from './selection.ts';
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
  for (const agent of agentsOf(identity)) {
    const declaration = findAgent(policy, agent);
    if (declaration === undefined) return { selected: false, agent, reason: 'agent-unknown' };
    if (!selects(declaration.selection, toolId)) return { selected: false, agent, reason: 'not-selected' };
  }
  return { selected: true };
}

/** Who must have a tool for the caller to have it: its own agent, then those it acts for. */
export function agentsOf({ agent, delegators = [] }: Identity): readonly string[] {
  return [agent, ...delegators];
}

/** Own names only: an agent may be called like something every object has. */
export function findAgent({ agents }: Policy, name: string): AgentDeclaration | undefined {
  return agents !== undefined && Object.hasOwn(agents, name) ? agents[name] : undefined;
}
