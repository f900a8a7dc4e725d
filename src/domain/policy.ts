import { splitToolId } from './ids.ts';
import type { Rule, RuleVerdict } from './rule.ts';
import type { LoopPolicy } from './loop-settings.ts';
import type { AgentDeclaration } from './selection.ts';
import type { Identity } from './session.ts';

/**
 * Who may call a tool: subjects, `role:NAME`, or `*` for everybody. A plain name is a subject of the tenant `default`;
 * `TENANT/NAME` names one of another tenant, `TENANT/*` all of them. Deny beats allow.
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

/** What holds for one tenant only. */
export interface TenantPolicy {
  readonly agents: Readonly<Record<string, AgentDeclaration>>;
}

export interface Policy {
  /** role → subjects */
  readonly roles: Readonly<Record<string, readonly string[]>>;
  /** `module.tool`, `module.*` or `*` → who. A tool that no entry names is closed. */
  readonly permissions: Readonly<Record<string, Permission>>;
  readonly paused: Paused;
  /**
   * agent → what it declared. Absent: this deployment does not select, permissions alone decide. Present: an agent that is not named
   * here has no tools. In this record so that a change of it reaches every claim like any other change of the policy.
   */
  readonly agents?: Readonly<Record<string, AgentDeclaration>>;
  /**
   * tenant → what its agents declared. In its tenant such a declaration stands in place of the one in `agents`; for other tenants it is
   * not there. A tenant with a group here selects, also where the deployment does not.
   */
  readonly tenants?: Readonly<Record<string, TenantPolicy>>;
  /** How runs are kept from going round in circles, and what they may use up. */
  readonly loops?: LoopPolicy;
  /** Agents that run while nobody watches: what a person would have to be asked about is denied at once. */
  readonly unattended?: readonly string[];
  /** Checks of calls that are permitted, in the order in which they are written. */
  readonly rules?: readonly Rule[];
  /** What holds for a call that no rule matches; `allow` when it is left out, as permissions have decided already. */
  readonly unmatched?: RuleVerdict;
  /** agent → names of secrets that its calls may use, or `PREFIX_*`; `*` stands for all agents, or all names. Others: none. */
  readonly secrets?: Readonly<Record<string, readonly string[]>>;
  /** Who may answer a question whose rule does not say: subjects, `role:NAME` or `*`. */
  readonly approvers?: readonly string[];
  /** Whether somebody may answer the question about their own call; not when it is left out. */
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

/** One decision for every call, nested ones included. Pure, so that `explain` and the tests ask the same function. */
export function checkPermission(policy: Policy, tool: AskedTool, identity: Identity): PermissionAnswer {
  if (isPaused(policy.paused, tool.id, identity)) return { allowed: false, reason: 'paused' };
  const entries = matchingEntries(policy, tool.id);
  for (const [entry, permission] of entries) {
    if (findSubject(policy, permission.deny ?? [], identity) !== undefined) {
      return { allowed: false, reason: 'denied', entry };
    }
  }
  for (const [entry, permission] of entries) {
    // A privileged tool is opened by name only: neither "all tools" nor "everybody" reaches it.
    if (tool.privileged && entry === '*') continue;
    const grantedTo = findSubject(policy, permission.allow ?? [], identity, tool.privileged);
    if (grantedTo !== undefined) return { allowed: true, entry, grantedTo };
  }
  return { allowed: false, reason: 'not-granted' };
}

/** Whoever acts for a paused agent is paused with it. */
export function pausedAgent(paused: Paused, { agent, delegators = [] }: Identity): string | undefined {
  return paused.agents?.find((name) => name === agent || delegators.includes(name));
}

function isPaused(paused: Paused, tool: string, identity: Identity): boolean {
  if (paused.all === true || pausedAgent(paused, identity) !== undefined) return true;
  return paused.tools?.some((pattern) => toolPatternMatches(pattern, tool)) === true;
}

/** The most specific entry first. */
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

/** The first of the names that means this caller; with `named`, only one that does not mean everybody. */
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

/** The same name in two tenants is two people. A tenant has no slash, so whatever a subject is called, the two cannot be confused. */
function isSubject(name: string, { tenant, subject }: Identity): boolean {
  const isPlain = tenant === 'default' && !subject.includes('/');
  return name === `${tenant}/${subject}` || (isPlain && name === subject);
}
