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

/**
 * Whether a session of `viewer` may see, wait for and cancel what `maker` called: its own calls, and calls of agents that act for it.
 * Agents of one subject are separate from each other, and a delegate does not see what its delegator called.
 */
export function reaches(viewer: Identity, maker: Identity): boolean {
  const [own, others] = [agentsOf(viewer), agentsOf(maker)];
  const begins = others.length - own.length;
  return isSameSubject(viewer, maker) && own.every((agent, at) => agent === others[begins + at]);
}

/** The same agent of the same subject, acting for the same agents. */
export function isSameAgent(one: Identity, other: Identity): boolean {
  return reaches(one, other) && reaches(other, one);
}

export function isSameSubject(
  one: Pick<Identity, 'tenant' | 'subject'>,
  other: Pick<Identity, 'tenant' | 'subject'>,
): boolean {
  return one.tenant === other.tenant && one.subject === other.subject;
}

/** Own names only: an agent may be called like something every object has. */
export function findAgent({ agents }: Policy, name: string): AgentDeclaration | undefined {
  return agents !== undefined && Object.hasOwn(agents, name) ? agents[name] : undefined;
}
