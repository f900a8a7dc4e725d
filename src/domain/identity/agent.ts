import type { Policy } from '../policy/policy.ts';
import { selects, type AgentDeclaration } from './selection.ts';
import type { Identity } from './session.ts';

export type SelectionAnswer =
  | { readonly selected: true }
  /** `agent` is the one that lacks the tool: the caller's own agent, or an agent that it acts for. */
  | { readonly selected: false; readonly agent: string; readonly reason: 'agent-unknown' | 'not-selected' };

/**
 * Whether the caller's agent has this tool. If the policy declares no agents, neither in general nor for the caller's tenant, every agent
 * has every tool and permissions alone decide. Otherwise an agent that the policy does not name has no tools. Only delegation narrows a
 * selection further: an agent that acts for another has at most the tools of that agent.
 */
export function checkSelection(policy: Policy, toolId: string, identity: Identity): SelectionAnswer {
  if (!isSelecting(policy, identity.tenant)) return { selected: true };
  for (const agent of agentsOf(identity)) {
    const declaration = findAgent(policy, identity.tenant, agent);
    if (declaration === undefined) return { selected: false, agent, reason: 'agent-unknown' };
    if (!selects(declaration.selection, toolId)) return { selected: false, agent, reason: 'not-selected' };
  }
  return { selected: true };
}

/** The agents that must all have a tool for the caller to have it: the caller's own agent first, then the agents it acts for. */
export function agentsOf({ agent, delegators = [] }: Identity): readonly string[] {
  return [agent, ...delegators];
}

/**
 * Whether a session of `viewer` may see, wait for and cancel the calls of `maker`. It may for its own calls and for calls of agents that
 * act for it. Agents of one subject are separate from each other, and a delegate does not see its delegator's calls.
 */
export function reaches(viewer: Identity, maker: Identity): boolean {
  const [own, others] = [agentsOf(viewer), agentsOf(maker)];
  const begins = others.length - own.length;
  return isSameSubject(viewer, maker) && own.every((agent, at) => agent === others[begins + at]);
}

/** Whether both identities are the same agent of the same subject, acting for the same agents. */
export function isSameAgent(one: Identity, other: Identity): boolean {
  return reaches(one, other) && reaches(other, one);
}

export function isSameSubject(
  one: Pick<Identity, 'tenant' | 'subject'>,
  other: Pick<Identity, 'tenant' | 'subject'>,
): boolean {
  return one.tenant === other.tenant && one.subject === other.subject;
}

type Declared = Pick<Policy, 'agents' | 'tenants'>;
type Agents = Readonly<Record<string, AgentDeclaration>>;

/**
 * Whether agents of this tenant have only the tools that the policy declares for them. False if the policy declares no agents that apply to
 * the tenant.
 */
export function isSelecting(policy: Declared, tenant: string): boolean {
  return policy.agents !== undefined || agentsOfTenant(policy, tenant) !== undefined;
}

/** The agents declared for this tenant alone; undefined if the policy has no declarations for it. */
export function agentsOfTenant({ tenants }: Declared, tenant: string): Agents | undefined {
  return tenants !== undefined && Object.hasOwn(tenants, tenant) ? tenants[tenant]!.agents : undefined;
}

/** The declaration that applies to an agent in a tenant: the tenant's own declaration if there is one, else the general one. */
export function findAgent(policy: Declared, tenant: string, name: string): AgentDeclaration | undefined {
  return declaredAt(policy, name, tenant) ?? declaredAt(policy, name);
}

/** The declaration of an agent in one place only: for the given tenant, or in general if no tenant is given. */
export function declaredAt(policy: Declared, name: string, tenant?: string): AgentDeclaration | undefined {
  const agents = tenant === undefined ? policy.agents : agentsOfTenant(policy, tenant);
  // Look at own properties only: an agent may be named like a property that every object inherits, such as `toString`.
  return agents !== undefined && Object.hasOwn(agents, name) ? agents[name] : undefined;
}

/** The tenant, if its own declarations decide about this agent; undefined if the general declarations do. */
export function declaringTenant(policy: Declared, tenant: string, name: string): string | undefined {
  if (declaredAt(policy, name, tenant) !== undefined) return tenant;
  return policy.agents === undefined && agentsOfTenant(policy, tenant) !== undefined ? tenant : undefined;
}

/**
 * All agent names that the policy declares, in general or for a tenant. Undefined if nothing is declared in general: then any name is an
 * agent in the tenants without declarations.
 */
export function declaredNames({ agents, tenants = {} }: Declared): string[] | undefined {
  if (agents === undefined) return undefined;
  return [...new Set([agents, ...Object.values(tenants).map((own) => own.agents)].flatMap((own) => Object.keys(own)))];
}

/** The agent names that exist in a tenant, sorted; undefined if no declarations apply to the tenant, so that any name is an agent. */
export function namesInTenant(policy: Declared, tenant: string): string[] | undefined {
  if (!isSelecting(policy, tenant)) return undefined;
  const names = [policy.agents ?? {}, agentsOfTenant(policy, tenant) ?? {}].flatMap((own) => Object.keys(own));
  return [...new Set(names)].sort();
}

/** A copy of the policy in which `agents` replace the agents of one tenant, or the general ones if no tenant is given. */
export function withAgents<Changed extends Policy>(policy: Changed, agents: Agents, tenant?: string): Changed {
  if (tenant === undefined) return { ...policy, agents };
  return { ...policy, tenants: { ...policy.tenants, [tenant]: { agents } } };
}

/** The agent's name for display, with the tenant if one is given. */
export function nameAgent(name: string, tenant?: string): string {
  return tenant === undefined ? name : `${name} of tenant ${tenant}`;
}

/** Every declaration of a policy: the general ones by name, then those of each tenant. */
export function listAgents({ agents = {}, tenants = {} }: Declared): readonly ListedAgent[] {
  const listed = (group: Agents, place: { readonly tenant?: string }): ListedAgent[] =>
    Object.keys(group)
      .sort()
      .map((name) => ({ name, declaration: group[name]!, ...place }));
  const own = Object.keys(tenants).sort();
  return [...listed(agents, {}), ...own.flatMap((tenant) => listed(tenants[tenant]!.agents, { tenant }))];
}

export interface ListedAgent {
  readonly name: string;
  readonly declaration: AgentDeclaration;
  /** Absent: the declaration is for every tenant that has none of its own. */
  readonly tenant?: string;
}
