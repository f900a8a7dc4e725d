import type { LoopOptions, LoopPolicy } from '../../domain/policy/loop-settings.ts';
import { toolPatternMatches } from '../../domain/policy/policy.ts';
import type { NearNames } from '../../base/settings/describe-issue.ts';
import type { PolicyWarning } from './name-warnings.ts';

/** Finds loop settings for agents and tools that do not exist. Without `agents` or `ids`, names of agents or tools are not checked. */
export function findLoopWarnings(
  loops: LoopPolicy,
  agents: readonly string[] | undefined,
  ids: readonly string[] | undefined,
  near: NearNames,
): PolicyWarning[] {
  const own = Object.entries(loops.agents ?? {});
  const strangers = own
    .filter(([name]) => agents?.includes(name) === false)
    .map(([name]) => ({
      path: ['loops', 'agents'],
      key: name,
      text: `loops.agents.${name} names no declared agent${guess(name, agents!, near)}`,
    }));
  const all: [string[], LoopOptions][] = own.map(([name, options]) => [['loops', 'agents', name], options]);
  if (loops.default !== undefined) all.unshift([['loops', 'default'], loops.default]);
  return [...strangers, ...all.flatMap(([path, options]) => findUnknownTools(path, options, ids, near))];
}

function findUnknownTools(
  of: readonly string[],
  { budgets = {} }: LoopOptions,
  ids: readonly string[] | undefined,
  near: NearNames,
): PolicyWarning[] {
  const limits = budgets.callsPerTool;
  if (ids === undefined || limits === undefined || typeof limits === 'number') return [];
  const path = [...of, 'budgets', 'callsPerTool'];
  return Object.keys(limits)
    .filter((pattern) => pattern !== '*' && !ids.some((id) => toolPatternMatches(pattern, id)))
    .map((pattern) => ({
      path,
      key: pattern,
      text: `${path.join('.')}.${pattern} matches no published tool${guess(pattern, ids, near)}`,
    }));
}

function guess(name: string, known: readonly string[], near: NearNames): string {
  const [found] = near(name, new Set(known), 1);
  return found === undefined ? '' : `, did you mean ${found}?`;
}
