import { z } from 'zod';
import { planeError } from '../../domain/errors/errors.ts';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import { toolPatternMatches, type Policy } from '../../domain/policy/policy.ts';
import { SECRET_PATTERN } from '../../domain/secret/secret-reference.ts';
import { findAgentWarnings } from './agent-warnings.ts';
import { findLoopWarnings } from './loop-warnings.ts';
import { findNameWarnings, sayWarning, type PlacedPolicy, type PolicyWarning } from './name-warnings.ts';
import {
  agentName,
  agentsSchema,
  keysOfAgents,
  normaliseAgents,
  normaliseTenants,
  plainText,
  tenantsSchema,
} from './agent-schema.ts';
import { describeIssue, type NearNames } from '../../base/settings/describe-issue.ts';
import { keysOfLoops, loopsSchema } from './loop-schema.ts';
import { readSettingsFile, type SettingsFile } from '../../base/settings/read-settings-file.ts';
import { checkRules } from './rule-problems.ts';
import { guessTool } from './tool-problems.ts';
import {
  approversSchema,
  keysOfRules,
  member,
  roleMember,
  rulesSchema,
  toolPattern,
  unmatchedSchema,
} from './rule-schema.ts';

const roleName = z.string().regex(NAME_PATTERN, 'expected the name of a role: letters, digits, _ and -');
const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(10_000).readonly();

/** Only capital letters, so that a name here is spelled exactly like the reference in a call. */
const secretPattern = z
  .string()
  .refine((name) => name === '*' || SECRET_PATTERN.test(name), 'expected a name like GITHUB_TOKEN, or MAIL_*, or *');

const permission = z.strictObject({ allow: list(member).exactOptional(), deny: list(member).exactOptional() });
const policySchema = z.strictObject({
  roles: z.record(roleName, list(roleMember)).default({}),
  permissions: z.record(toolPattern, permission).default({}),
  paused: z
    .strictObject({
      all: z.boolean().exactOptional(),
      agents: list(plainText).exactOptional(),
      tools: list(toolPattern).exactOptional(),
    })
    .default({}),
  agents: agentsSchema.exactOptional(),
  tenants: tenantsSchema.exactOptional(),
  rules: rulesSchema.exactOptional(),
  unmatched: unmatchedSchema.exactOptional(),
  approvers: approversSchema.exactOptional(),
  requesterMayDecide: z.boolean('expected true or false').exactOptional(),
  loops: loopsSchema.exactOptional(),
  unattended: list(agentName).exactOptional(),
  secrets: z.record(agentName, list(secretPattern)).exactOptional(),
});

/** Parts of the stored policy that stay unchanged if the file does not mention them. Roles and permissions are always replaced by the file. */
const OPTIONAL_PARTS = [
  'paused',
  'agents',
  'tenants',
  'rules',
  'unmatched',
  'approvers',
  'requesterMayDecide',
  'loops',
  'unattended',
  'secrets',
] as const;
type OptionalPart = (typeof OPTIONAL_PARTS)[number];

function keysBelow(path: string): readonly string[] {
  if (path === '') return ['roles', 'permissions', ...OPTIONAL_PARTS];
  if (path === 'paused') return ['all', 'agents', 'tools'];
  if (path.startsWith('rules.')) return keysOfRules(path);
  if (path === 'loops' || path.startsWith('loops.')) return keysOfLoops(path);
  if (/^tenants\.[^.]*$/.test(path)) return ['agents'];
  return path.startsWith('agents.') || path.startsWith('tenants.') ? keysOfAgents(path) : ['allow', 'deny'];
}

export interface PolicyFile {
  readonly policy: Policy;
  /** Parts that the file mentions. `agents: null` means that no agents are declared, and that this deployment does not use selections. */
  readonly partsSet: readonly OptionalPart[];
  /** Valid settings that are probably mistakes. They are reported in addition to the warnings about the policy. */
  readonly warnings: readonly string[];
  readonly placeOf: SettingsFile['placeOf'];
}

/** Reads and checks a policy file strictly. Throws POLICY_INVALID with at most 8 problems and their places. */
export function readPolicyFile(path: string, near: NearNames): PolicyFile {
  const read = readSettingsFile(path);
  if (read.kind === 'problem') throw planeError('POLICY_INVALID', { problems: [read.problem] });
  const { value, placeOf } = read.file;
  return readPolicyValue(value, placeOf, near);
}

/** Does the same as `readPolicyFile` for a policy that does not come from a file. */
export function readPolicyValue(value: unknown, placeOf: SettingsFile['placeOf'], near: NearNames): PolicyFile {
  const parsed = policySchema.safeParse(value, { reportInput: true });
  if (!parsed.success) {
    const needs = { placeOf, near, keysBelow, expects: () => undefined };
    const problems = parsed.error.issues.flatMap((issue) => describeIssue(issue, needs));
    throw planeError('POLICY_INVALID', { problems: problems.slice(0, 8) });
  }
  const { agents: given, tenants: givenTenants, ...rest } = parsed.data;
  const { agents, warnings } = given ? normaliseAgents(given) : { warnings: [] };
  const { tenants, warnings: ofTenants } = givenTenants ? normaliseTenants(givenTenants) : { warnings: [] };
  const policy: Policy = {
    ...rest,
    ...(agents === undefined ? {} : { agents }),
    ...(tenants === undefined || Object.keys(tenants).length === 0 ? {} : { tenants }),
  };
  const partsSet = OPTIONAL_PARTS.filter((part) => Object.hasOwn(value as object, part));
  checkRules({ partsSet, placeOf }, policy, undefined, near);
  return { policy, partsSet, warnings: [...warnings, ...ofTenants], placeOf };
}

/** Merges a file into the policy in force: parts that the file does not mention stay unchanged. */
export function applyPolicyFile(file: Pick<PolicyFile, 'policy' | 'partsSet'>, current: Policy): Policy {
  const stays = OPTIONAL_PARTS.filter((part) => !file.partsSet.includes(part) && current[part] !== undefined);
  return { ...file.policy, ...Object.fromEntries(stays.map((part) => [part, current[part]])) };
}

/** Non-empty parts of the policy in force that stay because the file does not mention them. */
export function keptParts({ partsSet }: Pick<PolicyFile, 'partsSet'>, current: Policy): string[] {
  const isEmpty = (part: unknown): boolean =>
    typeof part === 'object' && part !== null && Object.keys(part).length === 0;
  return OPTIONAL_PARTS.filter(
    (part) => !partsSet.includes(part) && current[part] !== undefined && !isEmpty(current[part]),
  );
}

/**
 * Finds settings that are valid but probably mistakes. Without `tools` nothing is compared with the catalog. With `file`, a warning about a
 * part that the file sets begins with its place.
 */
export function findPolicyWarnings(
  policy: Policy,
  tools: readonly { readonly id: string; readonly privileged: boolean }[] | undefined,
  near: NearNames,
  file?: PlacedPolicy,
): string[] {
  const ids = tools?.map(({ id }) => id);
  const loops = policy.loops === undefined ? [] : findLoopWarnings(policy.loops, declaredIn(policy), ids, near);
  return [
    ...findBlankWarnings(policy),
    ...findPermissionWarnings(policy, tools),
    ...findUnpublished(policy, ids, near),
    ...findNameWarnings(policy, near),
    ...findSelectionWarnings(policy, ids, near),
    ...loops,
  ].map((warning) => sayWarning(warning, file));
}

function findPermissionWarnings(
  { permissions }: Policy,
  tools: readonly { readonly id: string; readonly privileged: boolean }[] | undefined,
): PolicyWarning[] {
  return Object.entries(permissions).flatMap(([entry, { allow = [], deny = [] }]) => {
    const both = allow.filter((name) => deny.includes(name));
    const isUseless = deny.includes('*') && allow.length > 0;
    return [
      ...(both.length === 0 ? [] : [`permissions.${entry} allows and denies ${both.join(', ')}; deny wins`]),
      ...(isUseless ? [`permissions.${entry} denies everybody; its allow list has no effect`] : []),
      ...findClosedWarnings(entry, allow, tools),
    ].map((text) => ({ path: ['permissions'], key: entry, text }));
  });
}

/** Finds tools in permissions and pauses that are not published. */
function findUnpublished(policy: Policy, ids: readonly string[] | undefined, near: NearNames): PolicyWarning[] {
  const patterns = [
    ...Object.keys(policy.permissions).map((entry) => ({
      path: ['permissions'],
      key: entry,
      where: `permissions.${entry}`,
      entry,
    })),
    ...(policy.paused.tools ?? []).map((entry, index) => ({
      path: ['paused', 'tools', index],
      where: `paused.tools ${entry}`,
      entry,
    })),
  ];
  return patterns
    .filter(({ entry }) => ids !== undefined && entry !== '*' && !ids.some((id) => toolPatternMatches(entry, id)))
    .map(({ where, entry, ...place }) => ({
      ...place,
      text: `${where} matches no published tool${guessTool(entry, ids!, near)}`,
    }));
}

function findSelectionWarnings(policy: Policy, ids: readonly string[] | undefined, near: NearNames): PolicyWarning[] {
  const groups = [
    ...(policy.agents === undefined ? [] : [{ path: ['agents'], agents: policy.agents }]),
    ...Object.entries(policy.tenants ?? {}).map(([name, { agents }]) => ({
      path: ['tenants', name, 'agents'],
      agents,
    })),
  ];
  return groups.flatMap(({ path, agents }) => {
    const group = path.join('.');
    const names = Object.keys(agents);
    if (names.length === 0) return findAgentWarnings(agents, ids, near, group).map((text) => ({ path, text }));
    return names.flatMap((name) =>
      findAgentWarnings({ [name]: agents[name]! }, ids, near, group).map((text) => ({ path, key: name, text })),
    );
  });
}

/** Finds names of subjects that start or end with a blank. A session can have such a subject, but usually it is a typing mistake. */
function findBlankWarnings({ roles, permissions, approvers = [], rules = [] }: Policy): PolicyWarning[] {
  const named = [
    ...Object.entries(roles).map(([role, names]) => ({ where: `roles.${role}`, path: ['roles', role], names })),
    ...Object.entries(permissions).map(([entry, { allow = [], deny = [] }]) => ({
      where: `permissions.${entry}`,
      path: ['permissions', entry],
      names: [...allow, ...deny],
    })),
    { where: 'approvers', path: ['approvers'], names: approvers },
    ...rules.map(({ id, subjects = [], ask }, index) => ({
      where: `rule "${id}"`,
      path: ['rules', index],
      names: [...subjects, ...(ask?.approvers ?? [])],
    })),
  ];
  return named.flatMap(({ where, path, names }) =>
    names
      .filter((name) => /^\s|\s$|^[^/]*(\s\/|\/\s)/.test(name))
      .map((name) => ({ path, text: `${where} names "${name}": the blank at its start or end is part of the name` })),
  );
}

/** Names of all declared agents; undefined if the policy declares none, because then every agent name may be used. */
function declaredIn({ agents, tenants = {} }: Policy): string[] | undefined {
  const ofTenants = Object.values(tenants).flatMap((tenant) => Object.keys(tenant.agents));
  if (agents === undefined && ofTenants.length === 0) return undefined;
  return [...Object.keys(agents ?? {}), ...ofTenants];
}

/**
 * Finds privileged tools that an entry with `allow: *` seems to open to all subjects. They stay closed: a privileged tool is opened only by
 * its own name and only to named subjects.
 */
function findClosedWarnings(
  entry: string,
  allow: readonly string[],
  tools: readonly { readonly id: string; readonly privileged: boolean }[] | undefined,
): string[] {
  if (entry === '*' || !allow.includes('*')) return [];
  const closed = (tools ?? []).filter(({ id, privileged }) => privileged && toolPatternMatches(entry, id));
  return closed.map(
    ({ id }) => `permissions.${entry} allows *, but ${id} is privileged and stays closed without names`,
  );
}
