import { planeError } from '../../domain/errors/errors.ts';
import type { AgentChanges, DeclareOptions } from '../../domain/identity/declared-agents.ts';
import type { AgentDeclaration } from '../../domain/identity/selection.ts';
import { agentName, checkDeclaration, tenantName } from './agent-schema.ts';
import type { NearNames } from '../../base/settings/describe-issue.ts';

const MAX_AGENTS = 10_000;
const MAX_PROBLEMS = 8;

/** Checks agents that are declared in code by the rules of a policy file. Throws POLICY_INVALID with at most 8 problems and their places. */
export function readAgents(input: unknown, near: NearNames, { tenant }: DeclareOptions = {}): AgentChanges {
  const place = tenant === undefined ? {} : { tenant: readTenant(tenant) };
  if (!isPlain(input))
    throw planeError('POLICY_INVALID', { problems: ['agents: expected an object of agents by name'] });
  const names = Object.keys(input);
  if (names.length > MAX_AGENTS) {
    throw planeError('POLICY_INVALID', { problems: [`agents: expected at most ${MAX_AGENTS} at once`] });
  }
  const declared: [string, AgentDeclaration][] = [];
  const removed: string[] = [];
  const warnings: string[] = [];
  const problems: string[] = [];
  for (const name of names) {
    const read = readAgent(name, input[name], near);
    if ('problems' in read) problems.push(...read.problems);
    else if ('removed' in read) removed.push(name);
    else {
      declared.push([name, read.declaration]);
      warnings.push(...read.warnings);
    }
  }
  if (problems.length > 0) throw planeError('POLICY_INVALID', { problems: problems.slice(0, MAX_PROBLEMS) });
  return { declared: Object.fromEntries(declared), removed, warnings, ...place };
}

/** Throws POLICY_INVALID for a name that no session can have as its tenant. */
export function readTenant(tenant: unknown): string {
  const named = tenantName.safeParse(tenant);
  if (named.success) return named.data;
  throw planeError('POLICY_INVALID', { problems: [`tenant: ${named.error.issues[0]!.message}`] });
}

function readAgent(name: string, value: unknown, near: NearNames) {
  const named = agentName.safeParse(name);
  const where = `agents.${name.slice(0, 40)}`;
  if (!named.success) return { problems: [`${where}: ${named.error.issues[0]!.message}`] };
  if (value === null) return { removed: true };
  if (!Array.isArray(value) && !isPlain(value)) {
    return { problems: [`${where}: expected a selection, a declaration with one, or null to remove it`] };
  }
  const declaration = Array.isArray(value) ? { selection: value as unknown[] } : value;
  return checkDeclaration(name, declaration, { placeOf: () => where, near });
}

/** Whether the value is a plain object, as JSON has it. A map or a class instance would be misread. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
