import type { Policy } from './policy.ts';
import { selects, type AgentDeclaration } from './selection.ts';
import type { Identity } from './session.ts';

export type SelectionAnswer =
  | { readonly selected: true }
  /** The agent that lacks the tool: the caller itself, or one that it acts for. */
  | { readonly selected: false; readonly agent: string; readonly reason: 'agent-unknown' | 'not-selected' };

/**
 * Whether the caller's agent has this tool. A policy without `agents` does not select, permissions alone decide; one with agents, in
 * general or for the caller's tenant, gives nothing to an agent it does not name. Only delegation narrows: who acts for another holds at most what that one holds.
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

type Declared = Pick<Policy, 'agents' | 'tenants'>;
type Agents = Readonly<Record<string, AgentDeclaration>>;

/** Whether agents of this tenant have only what they declared. */
export function isSelecting(policy: Declared, tenant: string): boolean {
  return policy.agents !== undefined || agentsOfTenant(policy, tenant) !== undefined;
}

/** What was declared for this tenant alone; undefined where nothing was. */
export function agentsOfTenant({ tenants }: Declared, tenant: string): Agents | undefined {
  return tenants !== undefined && Object.hasOwn(tenants, tenant) ? tenants[tenant]!.agents : undefined;
}

/** What an agent has in a tenant: its declaration for the tenant, else the general one. */
export function findAgent(policy: Declared, tenant: string, name: string): AgentDeclaration | undefined {
  return declaredAt(policy, name, tenant) ?? declaredAt(policy, name);
}

/** What was declared in one place: for one tenant, or in general. */
export function declaredAt(policy: Declared, name: string, tenant?: string): AgentDeclaration | undefined {
  const agents = tenant === undefined ? policy.agents : agentsOfTenant(policy, tenant);
  // Own names only: an agent may be called like something every object has.
  return agents !== undefined && Object.hasOwn(agents, name) ? agents[name] : undefined;
}

/** The tenant whose own declaration decides for this agent; undefined where the general one does. */
export function declaringTenant(policy: Declared, tenant: string, name: string): string | undefined {
  if (declaredAt(policy, name, tenant) !== undefined) return tenant;
  return policy.agents === undefined && agentsOfTenant(policy, tenant) !== undefined ? tenant : undefined;
}

/** All names that are declared in general or for some tenant. Undefined where the deployment does not select: then any name is one. */
export function declaredNames({ agents, tenants = {} }: Declared): string[] | undefined {
  if (agents === undefined) return undefined;
  return [...new Set([agents, ...Object.values(tenants).map((own) => own.agents)].flatMap((own) => Object.keys(own)))];
}

/** The names that agents of a tenant can have; undefined where it does not select. */
export function namesInTenant(policy: Declared, tenant: string): string[] | undefined {
  if (!isSelecting(policy, tenant)) return undefined;
  const names = [policy.agents ?? {}, agentsOfTenant(policy, tenant) ?? {}].flatMap((own) => Object.keys(own));
  return [...new Set(names)].sort();
}

/** The policy with these agents of one tenant, or of all tenants, in place of those it had. */
export function withAgents<Changed extends Policy>(policy: Changed, agents: Agents, tenant?: string): Changed {
  if (tenant === undefined) return { ...policy, agents };
  return { ...policy, tenants: { ...policy.tenants, [tenant]: { agents } } };
}

/** For people. */
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
  /** Absent: declared for every tenant that has no declaration of its own. */
  readonly tenant?: string;
}
