import { agentsOf, agentsOfTenant, checkSelection, declaringTenant, findAgent, withAgents } from '../identity/agent.ts';
import { splitToolId } from '../identity/ids.ts';
import {
  checkPermission,
  findPause,
  findSubject,
  type Pause,
  type Paused,
  type Permission,
  type Policy,
} from './policy.ts';
import type { Rule } from './rule.ts';
import { UNMATCHED, type RuleForesight } from './rule-decision.ts';
import { normaliseSelection, type AgentDeclaration } from '../identity/selection.ts';
import type { Identity } from '../identity/session.ts';
import { whyUnattended } from '../identity/unattended.ts';

/** One change of the policy. A changed permission or declaration is given as the whole new entry. */
export type PolicyChange =
  | ({ readonly kind: 'resume' } & Pause)
  | {
      readonly kind: 'declare';
      readonly agent: string;
      readonly declaration: AgentDeclaration;
      /** The tenant that the declaration is for. Absent: it is for all tenants that have none of their own. */
      readonly tenant?: string;
    }
  | {
      readonly kind: 'permit';
      readonly entry: string;
      readonly permission: Permission;
      /** The removed deny entry, if it denied more than this caller: other subjects are then let through as well. */
      readonly frees?: string;
    }
  /** The rule denies other calls too; narrowing it would also let this call through. */
  | { readonly kind: 'remove-rule'; readonly rule: string }
  | { readonly kind: 'add-rule'; readonly rule: Rule }
  /** The agent is removed from the list of unattended agents: a person is asked then, and can allow the call. */
  | { readonly kind: 'attend'; readonly agent: string };

interface AskedTool {
  readonly id: string;
  readonly privileged: boolean;
}

/**
 * Max turns of the search. Each turn removes one name from a list or adds one, and the lists of a policy are bounded. This limit only
 * guarantees that the search ends.
 */
const MAX_TURNS = 1_000;

/**
 * The changes that let the caller use the tool, each as small as possible and no more than needed. They are found by applying one change
 * after the other and checking again, so they are known to suffice. Empty if the call is allowed already, or if no change would help.
 */
export function findChanges(
  policy: Policy,
  tool: AskedTool,
  identity: Identity,
  askRules: (policy: Policy) => RuleForesight,
): PolicyChange[] {
  const changes: PolicyChange[] = [];
  let current = policy;
  for (let turn = 0; turn < MAX_TURNS; turn += 1) {
    const change = nextChange(current, tool, identity, askRules);
    if (change === 'none-needed') return changes;
    if (change === undefined) return [];
    const known = changes.findIndex((one) => isSamePlace(one, change));
    if (known >= 0) changes.splice(known, 1, merge(changes[known]!, change));
    else changes.push(change);
    current = applyChange(current, change);
  }
  return [];
}

/** @internal */
export function applyChange(policy: Policy, change: PolicyChange): Policy {
  switch (change.kind) {
    case 'resume':
      return { ...policy, paused: resume(policy.paused, change) };
    case 'declare':
      return declare(policy, change);
    case 'permit':
      return { ...policy, permissions: { ...policy.permissions, [change.entry]: change.permission } };
    case 'remove-rule':
      return { ...policy, rules: (policy.rules ?? []).filter(({ id }) => id !== change.rule) };
    case 'add-rule':
      return { ...policy, rules: [...(policy.rules ?? []), change.rule] };
    case 'attend':
      return { ...policy, unattended: (policy.unattended ?? []).filter((name) => name !== change.agent) };
  }
}

function declare(
  policy: Policy,
  { agent, declaration, tenant }: Extract<PolicyChange, { readonly kind: 'declare' }>,
): Policy {
  const known = tenant === undefined ? policy.agents : agentsOfTenant(policy, tenant);
  return withAgents(policy, { ...known, [agent]: declaration }, tenant);
}

function resume(paused: Paused, change: Extract<PolicyChange, { kind: 'resume' }>): Paused {
  const { all, agents = [], tools = [], ...rest } = paused;
  const left = {
    agents: change.what === 'agent' ? agents.filter((name) => name !== change.name) : agents,
    tools: change.what === 'tool' ? tools.filter((name) => name !== change.name) : tools,
  };
  return {
    ...rest,
    ...(all === true && change.what !== 'all' ? { all } : {}),
    ...(left.agents.length > 0 ? { agents: left.agents } : {}),
    ...(left.tools.length > 0 ? { tools: left.tools } : {}),
  };
}

function nextChange(
  policy: Policy,
  tool: AskedTool,
  identity: Identity,
  askRules: (policy: Policy) => RuleForesight,
): PolicyChange | 'none-needed' | undefined {
  const change =
    findResume(policy.paused, tool, identity) ??
    findSelect(policy, tool, identity) ??
    findPermit(policy, tool, identity);
  return change === 'none-needed' ? findRuleChange(policy, tool, identity, askRules(policy)) : change;
}

/** The next change of the rules that the call needs. A rule that asks a person needs no change, if a person can be asked. */
function findRuleChange(
  policy: Policy,
  { id }: AskedTool,
  identity: Identity,
  foresight: RuleForesight,
): PolicyChange | 'none-needed' | undefined {
  if (foresight.kind === 'depends' || foresight.verdict === 'allow') return 'none-needed';
  if (foresight.verdict === 'ask') return findAttend(policy, identity);
  const { rules = [] } = policy;
  if (foresight.by !== UNMATCHED) return { kind: 'remove-rule', rule: foresight.by.id };
  const own = nameOf(identity);
  const agents = agentsOf(identity);
  if (own === undefined || agents.includes('*')) return undefined;
  const name = `allow-${id.replace('.', '-')}`.slice(0, 56);
  const taken = new Set(rules.map((rule) => rule.id));
  let unused = name;
  for (let number = 2; taken.has(unused); number += 1) unused = `${name}-${number}`;
  return { kind: 'add-rule', rule: { id: unused, verdict: 'allow', tools: [id], agents, subjects: [own] } };
}

/**
 * The agent to remove from the list of unattended agents. Undefined for a session that was opened unattended: no policy makes it attended.
 */
function findAttend(policy: Policy, identity: Identity): PolicyChange | 'none-needed' | undefined {
  if (whyUnattended(policy, identity) === undefined) return 'none-needed';
  const agent = agentsOf(identity).find((name) => policy.unattended?.includes(name));
  return agent === undefined ? undefined : { kind: 'attend', agent };
}

function findResume(paused: Paused, { id }: AskedTool, identity: Identity): PolicyChange | undefined {
  const pause = findPause(paused, id, identity);
  return pause === undefined ? undefined : { kind: 'resume', ...pause };
}

function findSelect(policy: Policy, { id }: AskedTool, identity: Identity): PolicyChange | undefined {
  const answer = checkSelection(policy, id, identity);
  if (answer.selected) return undefined;
  const { agent } = answer;
  const { module, tool } = splitToolId(id)!;
  const known = findAgent(policy, identity.tenant, agent) ?? { selection: [] };
  const tenant = declaringTenant(policy, identity.tenant, agent);
  const { selection } = normaliseSelection([...known.selection, { module, tools: [tool] }]);
  const place = tenant === undefined ? {} : { tenant };
  return { kind: 'declare', agent, declaration: { ...known, selection }, ...place };
}

function findPermit(policy: Policy, tool: AskedTool, identity: Identity): PolicyChange | 'none-needed' | undefined {
  const answer = checkPermission(policy, tool, identity);
  if (answer.allowed) return 'none-needed';
  const own = nameOf(identity);
  if (answer.reason === 'denied' && answer.entry !== undefined) {
    const { deny = [], ...rest } = policy.permissions[answer.entry]!;
    const name = findSubject(policy, deny, identity)!;
    const left = deny.filter((one) => one !== name);
    const permission = { ...rest, ...(left.length > 0 ? { deny: left } : {}) };
    const isOwn = name === own || name === `${identity.tenant}/${identity.subject}`;
    return { kind: 'permit', entry: answer.entry, permission, ...(isOwn ? {} : { frees: name }) };
  }
  // A subject named "*" cannot be named in a policy, because "*" means every subject.
  if (own === undefined) return undefined;
  const known: Permission = Object.hasOwn(policy.permissions, tool.id) ? policy.permissions[tool.id]! : {};
  return { kind: 'permit', entry: tool.id, permission: { ...known, allow: [...(known.allow ?? []), own] } };
}

/** The name that means exactly this caller in a policy; undefined if there is no such name. */
function nameOf({ tenant, subject }: Identity): string | undefined {
  if (subject === '*') return undefined;
  const isPlain = tenant === 'default' && !subject.includes('/') && !subject.startsWith('role:');
  return isPlain ? subject : `${tenant}/${subject}`;
}

function isSamePlace(one: PolicyChange, other: PolicyChange): boolean {
  return one.kind === 'permit' && other.kind === 'permit' && one.entry === other.entry;
}

/** Merges two changes of the same entry into one. The later change holds the whole new entry. */
function merge(one: PolicyChange, later: PolicyChange): PolicyChange {
  if (one.kind !== 'permit' || later.kind !== 'permit') return later;
  const frees = [one.frees, later.frees].filter((name) => name !== undefined).join(', ');
  return { ...later, ...(frees === '' ? {} : { frees }) };
}
