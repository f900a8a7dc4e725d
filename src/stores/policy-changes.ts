import { agentsOfTenant } from '../domain/identity/agent.ts';
import { AUDIT_LIMITS, type AdministrativeEvent } from '../domain/audit/audit-record.ts';
import type { Paused, Policy } from '../domain/policy/policy.ts';
import type { Rule } from '../domain/policy/rule.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { shorten } from '../base/cut-text.ts';

export interface PolicyChanges {
  readonly event: Extract<AdministrativeEvent, `policy.${string}` | `agents.${string}` | `plane.${string}`>;
  /** Names of what is different, never the values: `rule no-mail added`. */
  readonly changed: readonly string[];
}

/**
 * Finds the difference between two policies, for the audit record of the change. The event is derived from the difference itself, so a
 * writer cannot record a change of the rules as a pause.
 */
export function findPolicyChanges(before: Policy, after: Policy): PolicyChanges {
  const agents = agentChanges(before.agents, after.agents);
  const tenants = new Set([...Object.keys(before.tenants ?? {}), ...Object.keys(after.tenants ?? {})]);
  for (const tenant of [...tenants].sort()) {
    const changes = agentChanges(agentsOfTenant(before, tenant), agentsOfTenant(after, tenant));
    agents.push(...changes.map((change) => `tenant ${tenant}: ${change}`));
  }
  const { paused, resumed } = pauseChanges(before.paused, after.paused);
  const rest = [
    ...members('role', before.roles, after.roles),
    ...members('permission', before.permissions, after.permissions),
    ...rules(before.rules ?? [], after.rules ?? []),
    ...members('secrets of', before.secrets, after.secrets),
    ...settings(before, after),
  ];
  const changed = [...paused, ...resumed, ...agents, ...rest];
  const isOnly = (part: readonly string[]): boolean => part.length > 0 && part.length === changed.length;
  const event = isOnly(agents)
    ? 'agents.changed'
    : isOnly(resumed)
      ? 'plane.resumed'
      : isOnly([...paused, ...resumed])
        ? 'plane.paused'
        : 'policy.changed';
  return { event, changed: boundedChanges(changed) };
}

function agentChanges(before: Group | undefined, after: Group | undefined): string[] {
  const changes = members('agent', before, after);
  if ((before === undefined) === (after === undefined)) return changes;
  return [after === undefined ? 'selecting ended' : 'selecting began', ...changes];
}

type Group = Readonly<Record<string, unknown>>;

function members(kind: string, before: Group = {}, after: Group = {}): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    const [had, has] = [Object.hasOwn(before, name), Object.hasOwn(after, name)];
    if (had && has) return isSame(before[name], after[name]) ? [] : [`${kind} ${name} changed`];
    return [`${kind} ${name} ${has ? 'added' : 'removed'}`];
  });
}

function rules(before: readonly Rule[], after: readonly Rule[]): string[] {
  const group = (list: readonly Rule[]): Group => Object.fromEntries(list.map((rule) => [rule.id, rule]));
  const kept = (list: readonly Rule[], other: readonly Rule[]): string[] =>
    list.map(({ id }) => id).filter((id) => other.some((rule) => rule.id === id));
  const isReordered = !isSame(kept(before, after), kept(after, before));
  return [...members('rule', group(before), group(after)), ...(isReordered ? ['rules reordered'] : [])];
}

function pauseChanges(before: Paused, after: Paused): { readonly paused: string[]; readonly resumed: string[] } {
  const namesOf = ({ all, agents = [], tools = [] }: Paused): string[] => [
    ...(all === true ? ['everything'] : []),
    ...agents.map((name) => `agent ${name}`),
    ...tools.map((name) => `tool ${name}`),
  ];
  const [had, has] = [namesOf(before), namesOf(after)];
  return {
    paused: has.filter((name) => !had.includes(name)).map((name) => `${name} paused`),
    resumed: had.filter((name) => !has.includes(name)).map((name) => `${name} resumed`),
  };
}

const NAMED_APART = ['roles', 'permissions', 'paused', 'agents', 'tenants', 'rules', 'secrets'];

/** Reports changes of all members of a policy that are not in NAMED_APART, including members that a later release adds. */
function settings(before: Policy, after: Policy): string[] {
  const rest = (policy: Policy): Group =>
    Object.fromEntries(
      Object.entries(policy).filter(([name, value]) => !NAMED_APART.includes(name) && value !== undefined),
    );
  return members('setting', rest(before), rest(after));
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one as never) === canonicalJson(other as never);
}

/** Cuts the list to the number of changes that an audit record can hold. The last entry then says how many more there were. */
export function boundedChanges(changed: readonly string[]): string[] {
  const { changes, nameLength } = AUDIT_LIMITS;
  const short = changed.map((text) => shorten(text, nameLength));
  if (short.length <= changes) return short;
  return [...short.slice(0, changes - 1), `${short.length - changes + 1} more changes`];
}
