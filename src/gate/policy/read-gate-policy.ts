import { z } from 'zod';
import { agentName } from './agent-schema.ts';
import { describeIssue } from '../../base/settings/describe-issue.ts';
import { keysOfLoops, loopsSchema } from './loop-schema.ts';
import { checkRules } from './rule-problems.ts';
import { approversSchema, keysOfRules, roleMember, rulesSchema, unmatchedSchema } from './rule-schema.ts';
import type { KnownTools } from './tool-problems.ts';
import { deepFreeze } from '../../base/deep-freeze.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { NAME_PATTERN, type ToolId } from '../../domain/identity/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import { nearNames } from '../../base/near-names.ts';
import { CLOSED_POLICY, type Policy } from '../../domain/policy/policy.ts';
import type { GateOptions } from '../wrap/gate-options.ts';

const MAX_NAMES = 10_000;

/**
 * The parts of a policy that apply to tools in the caller's own process. `permissions` and `agents` are rejected, because the library does
 * not enforce them.
 */
const schema = z.strictObject({
  roles: z
    .record(
      z.string().regex(NAME_PATTERN, 'expected the name of a role: letters, digits, _ and -'),
      z.array(roleMember).max(MAX_NAMES),
    )
    .exactOptional(),
  rules: rulesSchema.exactOptional(),
  unmatched: unmatchedSchema.exactOptional(),
  approvers: approversSchema.exactOptional(),
  loops: loopsSchema.exactOptional(),
  unattended: z.array(agentName).max(MAX_NAMES).exactOptional(),
});

/**
 * Checks a policy with the schemas and messages of a policy file, and returns a frozen copy. Throws POLICY_INVALID with at most 8 problems
 * of the schema.
 */
export function readGatePolicy({ policy: given = {}, tools }: Pick<GateOptions, 'policy' | 'tools'>): Policy {
  if (!isJsonObject(given)) throw planeError('POLICY_INVALID', { problems: ['policy: expected an object'] });
  const placeOf = (): string => 'policy';
  const parsed = schema.safeParse(given, { reportInput: true });
  if (!parsed.success) {
    const needs = { placeOf, near: nearNames, keysBelow, expects: () => undefined };
    const problems = parsed.error.issues.flatMap((issue) => describeIssue(issue, needs));
    throw planeError('POLICY_INVALID', { problems: problems.slice(0, 8) });
  }
  const policy: Policy = deepFreeze(structuredClone({ ...CLOSED_POLICY, ...parsed.data }));
  checkRules({ partsSet: Object.keys(schema.shape), placeOf }, policy, knownTools(tools), nearNames);
  return policy;
}

function keysBelow(path: string): readonly string[] {
  if (path === '') return Object.keys(schema.shape);
  return path.startsWith('rules.') ? keysOfRules(path) : keysOfLoops(path);
}

/** The tools that rules are compared with. Their input schemas are not known, so any pointer into the arguments is accepted. */
function knownTools(tools: GateOptions['tools']): KnownTools | undefined {
  const known = tools?.map(({ id, effect = 'unsafe', privileged = false }) => ({
    id: id as ToolId,
    effect,
    privileged,
    inputSchema: {},
  }));
  return known === undefined ? undefined : { tools: known };
}
