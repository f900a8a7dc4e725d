import { z } from 'zod';
import { planeError } from '../domain/errors.ts';
import { NAME_PATTERN, splitToolId } from '../domain/ids.ts';
import { toolPatternMatches, type Policy } from '../domain/policy.ts';
import { describeIssue, type NearNames } from './describe-issue.ts';
import { readSettingsFile } from './read-settings-file.ts';

const subject = z
  .string()
  .regex(/^[^\p{Cc}\p{Cs}]{1,256}$/u, 'expected text of 1 to 256 characters without control characters');
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
});

const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': ['roles', 'permissions', 'paused'],
  paused: ['all', 'agents', 'tools'],
};

function isPattern(text: string): boolean {
  if (text === '*') return true;
  const module = text.endsWith('.*') ? text.slice(0, -2) : undefined;
  return module === undefined ? splitToolId(text) !== undefined : NAME_PATTERN.test(module);
}

export interface PolicyFile {
  readonly policy: Policy;
  /** The file says something about what is paused; otherwise the store's word on that stays. */
  readonly saysPaused: boolean;
}

/** Reads and checks a policy file strictly. Throws POLICY_INVALID with every problem and its place. */
export function readPolicyFile(path: string, near: NearNames): PolicyFile {
  const read = readSettingsFile(path);
  if (read.kind === 'problem') throw planeError('POLICY_INVALID', { problems: [read.problem] });
  const { value, placeOf } = read.file;
  const parsed = policySchema.safeParse(value, { reportInput: true });
  if (!parsed.success) {
    const needs = {
      placeOf,
      near,
      keysBelow: (at: string) => KEYS[at] ?? ['allow', 'deny'],
      expects: () => undefined,
    };
    const problems = parsed.error.issues.flatMap((issue) => describeIssue(issue, needs));
    throw planeError('POLICY_INVALID', { problems: problems.slice(0, 8) });
  }
  return { policy: parsed.data, saysPaused: Object.hasOwn(value as object, 'paused') };
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
  return doubts;
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
