import { z } from 'zod';
import { planeError } from '../domain/errors.ts';
import { NAME_PATTERN, splitToolId } from '../domain/ids.ts';
import { toolPatternMatches, type Policy } from '../domain/policy.ts';
import { findAgentDoubts } from './agent-doubts.ts';
import { agentsSchema, keysOfAgents, normaliseAgents, plainText as subject } from './agent-schema.ts';
import { describeIssue, type NearNames } from './describe-issue.ts';
import { readSettingsFile, type SettingsFile } from './read-settings-file.ts';

const member = subject.refine((name) => !name.startsWith('role:') || NAME_PATTERN.test(name.slice('role:'.length)), {
  message: 'expected a subject, role:NAME or *',
});
const role = z.string().regex(NAME_PATTERN, 'expected the name of a role: letters, digits, _ and -');
const pattern = z.string().refine(isPattern, { message: 'expected module.tool, module.* or *' });
const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(10_000).readonly();

const permission = z.strictObject({ allow: list(member).exactOptional(), deny: list(member).exactOptional() });
const policySchema = z.strictObject({
  roles: z.record(role, list(subject)).default({}),
  permissions: z.record(pattern, permission).default({}),
  paused: z
    .strictObject({
      all: z.boolean().exactOptional(),
      agents: list(subject).exactOptional(),
      tools: list(pattern).exactOptional(),
    })
    .default({}),
  agents: agentsSchema.exactOptional(),
});

function keysBelow(path: string): readonly string[] {
  if (path === '') return ['roles', 'permissions', 'paused', 'agents'];
  if (path === 'paused') return ['all', 'agents', 'tools'];
  return path.startsWith('agents.') ? keysOfAgents(path) : ['allow', 'deny'];
}

function isPattern(text: string): boolean {
  if (text === '*') return true;
  const module = text.endsWith('.*') ? text.slice(0, -2) : undefined;
  return module === undefined ? splitToolId(text) !== undefined : NAME_PATTERN.test(module);
}

export interface PolicyFile {
  readonly policy: Policy;
  /** The file says something about what is paused; otherwise the store's word on that stays. */
  readonly saysPaused: boolean;
  /** The same for agents. `agents: null` says that there are none and that this deployment does not select. */
  readonly saysAgents: boolean;
  /** Legal, and probably not meant; told beside the doubts about the policy. */
  readonly warnings: readonly string[];
  readonly placeOf: SettingsFile['placeOf'];
}

/** Reads and checks a policy file strictly. Throws POLICY_INVALID with every problem and its place. */
export function readPolicyFile(path: string, near: NearNames): PolicyFile {
  const read = readSettingsFile(path);
  if (read.kind === 'problem') throw planeError('POLICY_INVALID', { problems: [read.problem] });
  const { value, placeOf } = read.file;
  const parsed = policySchema.safeParse(value, { reportInput: true });
  if (!parsed.success) {
    const needs = { placeOf, near, keysBelow, expects: () => undefined };
    const problems = parsed.error.issues.flatMap((issue) => describeIssue(issue, needs));
    throw planeError('POLICY_INVALID', { problems: problems.slice(0, 8) });
  }
  const { agents: given, ...policy } = parsed.data;
  const { agents, warnings } = given ? normaliseAgents(given) : { warnings: [] };
  return {
    policy: agents === undefined ? policy : { ...policy, agents },
    saysPaused: Object.hasOwn(value as object, 'paused'),
    saysAgents: given !== undefined,
    warnings,
    placeOf,
  };
}

/** The policy that a file makes of the one in force: what it does not speak of stays. */
export function applyPolicyFile({ policy, saysPaused, saysAgents }: PolicyFile, current: Policy): Policy {
  return {
    ...policy,
    ...(saysPaused ? {} : { paused: current.paused }),
    ...(saysAgents || current.agents === undefined ? {} : { agents: current.agents }),
  };
}

/** What is allowed to be written and probably not meant. Without `tools` nothing is compared with the catalog. */
export function findPolicyDoubts(
  policy: Policy,
  tools: readonly { readonly id: string; readonly privileged: boolean }[] | undefined,
  near: NearNames,
): string[] {
  const doubts: string[] = [];
  for (const [entry, { allow = [], deny = [] }] of Object.entries(policy.permissions)) {
    const both = allow.filter((name) => deny.includes(name));
    if (both.length > 0) doubts.push(`permissions.${entry} allows and denies ${both.join(', ')}; deny wins`);
    if (deny.includes('*') && allow.length > 0)
      doubts.push(`permissions.${entry} denies everybody; its allow list has no effect`);
    for (const name of [...allow, ...deny]) {
      if (name.startsWith('role:') && !Object.hasOwn(policy.roles, name.slice('role:'.length))) {
        doubts.push(`permissions.${entry} names ${name}, which is not among the roles`);
      }
    }
    doubts.push(...findClosedDoubts(entry, allow, tools));
  }
  const patterns = [
    ...Object.keys(policy.permissions).map((entry) => [`permissions.${entry}`, entry] as const),
    ...(policy.paused.tools ?? []).map((entry) => [`paused.tools ${entry}`, entry] as const),
  ];
  for (const [where, entry] of patterns) {
    if (tools === undefined || entry === '*' || tools.some(({ id }) => toolPatternMatches(entry, id))) continue;
    const [guess] = near(entry, new Set(tools.map(({ id }) => id)), 1);
    doubts.push(`${where} matches no published tool${guess === undefined ? '' : `, did you mean ${guess}?`}`);
  }
  if (policy.agents === undefined) return doubts;
  const ids = tools?.map(({ id }) => id);
  return [...doubts, ...findAgentDoubts(policy.agents, ids, near)];
}

/** A privileged tool is opened by name and to named subjects only. */
function findClosedDoubts(
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
