import { splitToolId } from '../identity/ids.ts';
import type { Rule, RuleVerdict } from './rule.ts';
import type { LoopPolicy } from './loop-settings.ts';
import type { AgentDeclaration } from '../identity/selection.ts';
import type { Identity } from '../identity/session.ts';

/**
 * Who may call a tool: subjects, `role:NAME`, or `*` for everyone. A plain name is a subject of the tenant `default`; `TENANT/NAME` is a
 * subject of another tenant, `TENANT/*` all of its subjects. Deny beats allow.
 */
export interface Permission {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** The kill switch: calls of these agents or tools, or all calls, are refused until resumed. */
export interface Paused {
  readonly all?: boolean;
  readonly agents?: readonly string[];
  readonly tools?: readonly string[];
}

/** The part of a policy that applies to one tenant only. */
export interface TenantPolicy {
  readonly agents: Readonly<Record<string, AgentDeclaration>>;
}

export interface Policy {
  /** The subjects that have each role, by role. */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** `module.tool`, `module.*` or `*` → who may call it. A tool that no entry names is closed. */
  readonly permissions: Readonly<Record<string, Permission>>;
  readonly paused: Paused;
  /**
   * The declaration of each agent, by name. Absent: agents have no selections in this deployment, and permissions alone decide. Present: an
   * agent that is named neither here nor for its tenant has no tools. The declarations are part of the policy, so that workers learn of a
   * change with the next calls that they claim, as of any change of the policy.
   */
  readonly agents?: Readonly<Record<string, AgentDeclaration>>;
  /**
   * The declarations of agents of single tenants, by tenant. Within its tenant, such a declaration replaces the one in `agents`; in other
   * tenants it does not exist. In a tenant with an entry here, an agent that is declared nowhere has no tools, even if `agents` is absent.
   */
  readonly tenants?: Readonly<Record<string, TenantPolicy>>;
  /** How loops in runs are stopped, and what runs may use up. */
  readonly loops?: LoopPolicy;
  /** Agents that run while no person watches: a call that a person would have to be asked about is denied at once. */
  readonly unattended?: readonly string[];
  /** Checks of calls that are permitted, in the order in which they are written. */
  readonly rules?: readonly Rule[];
  /** The verdict for a call that no rule matches. Default: `allow`, because permissions have decided already. */
  readonly unmatched?: RuleVerdict;
  /**
   * The secrets that the calls of each agent may use, by agent: names, or `PREFIX_*`. `*` stands for all agents, or for all names. An agent
   * that no entry covers may use none.
   */
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
  /** Approvers of a question whose rule names none: subjects, `role:NAME` or `*`. */
  readonly approvers?: readonly string[];
  /** Whether a person may decide the question about their own call. Default: no. */
  readonly requesterMayDecide?: boolean;
}

/** The policy as stored. Version 0 is the empty policy of a new store: everything closed. */
export interface PolicyRecord {
  readonly version: number;
  readonly policy: Policy;
}

export const CLOSED_POLICY: Policy = Object.freeze({ roles: {}, permissions: {}, paused: {} });

export type PermissionAnswer =
  | { readonly allowed: true; readonly entry: string; readonly grantedTo: string }
  | { readonly allowed: false; readonly reason: 'paused' | 'denied' | 'not-granted'; readonly entry?: string };

interface AskedTool {
  readonly id: string;
  readonly privileged: boolean;
}

/** The permission check of every call, including nested calls. Pure, so that `explain` and the tests use the same function. */
export function checkPermission(policy: Policy, tool: AskedTool, identity: Identity): PermissionAnswer {
  if (findPause(policy.paused, tool.id, identity) !== undefined) return { allowed: false, reason: 'paused' };
  const entries = matchingEntries(policy, tool.id);
  for (const [entry, permission] of entries) {
    if (findSubject(policy, permission.deny ?? [], identity) !== undefined) {
      return { allowed: false, reason: 'denied', entry };
    }
  }
  for (const [entry, permission] of entries) {
    // A privileged tool is opened by name only: neither the entry for all tools nor a name that means every subject opens it.
    if (tool.privileged && entry === '*') continue;
    const grantedTo = findSubject(policy, permission.allow ?? [], identity, tool.privileged);
    if (grantedTo !== undefined) return { allowed: true, entry, grantedTo };
  }
  return { allowed: false, reason: 'not-granted' };
}

/** The paused agent that stops this caller: its own agent, or one that it acts for. */
export function pausedAgent(paused: Paused, { agent, delegators = [] }: Identity): string | undefined {
  return paused.agents?.find((name) => name === agent || delegators.includes(name));
}

/** One entry of what is paused, as `sallyport pause` names it. */
export type Pause = { readonly what: 'all' } | { readonly what: 'agent' | 'tool'; readonly name: string };

/** The first pause that stops a call of this tool by this caller. */
export function findPause(paused: Paused, tool: string, identity: Identity): Pause | undefined {
  if (paused.all === true) return { what: 'all' };
  const agent = pausedAgent(paused, identity);
  if (agent !== undefined) return { what: 'agent', name: agent };
  const pattern = paused.tools?.find((one) => toolPatternMatches(one, tool));
  return pattern === undefined ? undefined : { what: 'tool', name: pattern };
}

/** The permission entries that match a tool, the most specific first. */
export function matchingEntries(policy: Policy, tool: string): [string, Permission][] {
  const module = splitToolId(tool)?.module;
  const names = module === undefined ? [tool, '*'] : [tool, `${module}.*`, '*'];
  return names.flatMap((name): [string, Permission][] => {
    const permission = Object.hasOwn(policy.permissions, name) ? policy.permissions[name] : undefined;
    return permission === undefined ? [] : [[name, permission]];
  });
}

export function toolPatternMatches(pattern: string, tool: string): boolean {
  if (pattern === '*' || pattern === tool) return true;
  return pattern.endsWith('.*') && tool.startsWith(pattern.slice(0, -1));
}

/** The first of the names that means this caller. With `named`, names that mean every subject do not count. */
export function findSubject(
  policy: Policy,
  names: readonly string[],
  identity: Identity,
  named = false,
): string | undefined {
  return names.find((name) => {
    if (name === '*' || name === `${identity.tenant}/*`) return !named;
    if (!name.startsWith('role:')) return isSubject(name, identity);
    const role = name.slice('role:'.length);
    return Object.hasOwn(policy.roles, role) && policy.roles[role]!.some((member) => isSubject(member, identity));
  });
}

/**
 * The same name in two tenants means two people. A tenant's name has no slash, so the two cannot be confused, whatever a subject is called.
 */
function isSubject(name: string, { tenant, subject }: Identity): boolean {
  const isPlain = tenant === 'default' && !subject.includes('/');
  return name === `${tenant}/${subject}` || (isPlain && name === subject);
}
