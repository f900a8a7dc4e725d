import { EFFECTS, type Effect } from '../../domain/tool/tool.ts';
import type { HookedTool, HookMatch } from '../../domain/policy/hook.ts';
import { NAME_PATTERN, splitToolId } from '../../domain/identity/ids.ts';
import { toolPatternMatches } from '../../domain/policy/policy.ts';
import { matchesTool } from './match-tool.ts';

/** The tools that hooks can match. */
export interface HookCatalog {
  readonly tools: readonly HookedTool[];
  /** Modules that could not be loaded, so that their tools are not known. */
  readonly brokenModules?: readonly string[];
  /** Returns known names that are similar to the given one. */
  readonly near?: (name: string, known: Iterable<string>, limit?: number) => string[];
}

/** Finds tools and effects in a hook's match that do not exist. Such a hook would never fire, although its author relies on it. */
export function findMatchProblems(match: HookMatch, catalog: HookCatalog | undefined): string[] {
  const { tools, effects } = match;
  const problems = [...listProblems('tools', tools, isPattern), ...listProblems('effects', effects, isEffect)];
  if (catalog === undefined || problems.length > 0) return problems;
  problems.push(...(tools ?? []).flatMap((pattern) => findUnknown(pattern, catalog)));
  if (problems.length > 0 || hasUnknownTools(match, catalog)) return problems;
  const missing = (effects ?? []).filter((effect) => catalog.tools.every((tool) => tool.effect !== effect));
  if (missing.length > 0) return [`effects: no tool that is loaded is ${missing.join(' or ')}`];
  return catalog.tools.some((tool) => matchesTool(match, tool))
    ? []
    : ['it can never fire: no tool matches all it names'];
}

/** A name without a dot, such as `search`, is a tool that an agent's own process wraps; tools of a plane are named `module.tool`. */
function isPattern(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const name = text.endsWith('.*') ? text.slice(0, -2) : text;
  return text === '*' || NAME_PATTERN.test(name) || splitToolId(text) !== undefined;
}

function isEffect(text: unknown): boolean {
  return EFFECTS.includes(text as Effect);
}

function listProblems(
  name: 'tools' | 'effects',
  list: readonly unknown[] | undefined,
  fits: (text: unknown) => boolean,
): string[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return [`${name}: expected a list`];
  // An empty list would match nothing; to match everything, the author leaves the list out.
  if (list.length === 0) return [`${name}: the list is empty, so it can never fire; leave ${name} out to match all`];
  const expected = name === 'tools' ? 'module.tool, module.* or *' : `one of ${EFFECTS.join(', ')}`;
  return list.flatMap((item, index) => (fits(item) ? [] : [`${name}.${index}: expected ${expected}`]));
}

function findUnknown(pattern: string, catalog: HookCatalog): string[] {
  if (pattern === '*' || isOfBroken(pattern, catalog)) return [];
  if (catalog.tools.some(({ id }) => toolPatternMatches(pattern, id))) return [];
  const [guess] = catalog.near?.(pattern, new Set(catalog.tools.map(({ id }) => id)), 1) ?? [];
  const what = pattern.endsWith('.*') ? `no tool of the module ${pattern.slice(0, -2)}` : `no tool ${pattern}`;
  return [`tools: there is ${what}${guess === undefined ? '' : ` (did you mean ${guess}?)`}`];
}

/** Whether the hook could match tools of a module that failed to load. */
function hasUnknownTools({ tools }: HookMatch, catalog: HookCatalog): boolean {
  const { brokenModules = [] } = catalog;
  if (tools === undefined) return brokenModules.length > 0;
  return tools.some((pattern) => (pattern === '*' ? brokenModules.length > 0 : isOfBroken(pattern, catalog)));
}

function isOfBroken(pattern: string, { brokenModules = [] }: HookCatalog): boolean {
  const dot = pattern.indexOf('.');
  return dot > 0 && brokenModules.includes(pattern.slice(0, dot));
}
