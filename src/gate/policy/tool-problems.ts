import { splitToolId } from '../../domain/identity/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import { toolPatternMatches } from '../../domain/policy/policy.ts';
import type { ArgumentCondition, Rule } from '../../domain/policy/rule.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { comparisonsOf, parsePlace } from '../rules/compile-condition.ts';
import { isAbout } from '../rules/compile-rules.ts';
import type { PointerStep } from '../../base/json-pointer.ts';
import { typesOf } from './contradictions.ts';
import { guessName, type NearNames } from '../../base/settings/describe-issue.ts';
import { typesAt, type JsonTypes } from './schema-types.ts';

export type RuleTool = Pick<ToolDeclaration, 'id' | 'effect' | 'privileged' | 'inputSchema' | 'refusesUndeclared'>;

/** The parts of the catalog that rules refer to. */
export interface KnownTools {
  readonly tools: readonly RuleTool[];
  /** Modules that could not be loaded, so the tools that they would publish are unknown. */
  readonly broken?: readonly string[];
}

/** A problem of a rule, and its path in the rule. */
export interface ProblemOfRule {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** Finds tools that are not published, and tools that can never be called in the way that the rule describes. */
export function findToolProblems(rule: Rule, { tools, broken = [] }: KnownTools, near: NearNames): ProblemOfRule[] {
  const isOfBroken = (pattern: string): boolean => broken.includes(moduleOf(pattern) ?? '');
  const unpublished = (rule.tools ?? []).flatMap((pattern, index): ProblemOfRule[] => {
    if (isOfBroken(pattern) || tools.some(({ id }) => toolPatternMatches(pattern, id))) return [];
    const ids = tools.map(({ id }) => id);
    return [{ path: ['tools', index], text: `${pattern} matches no published tool${guessTool(pattern, ids, near)}` }];
  });
  if (unpublished.length > 0) return unpublished;
  if (broken.length > 0 && rule.tools?.some((pattern) => pattern === '*' || isOfBroken(pattern)) !== false) return [];
  const about = tools.filter((tool) => isAbout(rule, tool));
  return about.length === 0 ? [describeNoTool(rule)] : findPointerProblems(rule, about, near);
}

/** Names the published tool, or for `module.*` the module, that a pattern was probably meant to be. Empty if there is none. */
export function guessTool(pattern: string, ids: readonly string[], near: NearNames): string {
  return guessName(pattern, pattern.endsWith('.*') ? ids.map((id) => `${moduleOf(id)}.*`) : ids, near);
}

/**
 * Finds an entry of the permissions that denies, matches no published tool, and has nearly the name of one: that tool stays open. An entry
 * without such a name may be about a tool of another time, so it is only a warning.
 */
export function findOpenTool(entry: string, { tools, broken = [] }: KnownTools, near: NearNames): string | undefined {
  if (entry === '*' || broken.includes(moduleOf(entry) ?? '')) return undefined;
  if (tools.length === 0 || tools.some(({ id }) => toolPatternMatches(entry, id))) return undefined;
  const guess = guessTool(
    entry,
    tools.map(({ id }) => id),
    near,
  );
  return guess === '' ? undefined : `it matches no published tool${guess}`;
}

function moduleOf(pattern: string): string | undefined {
  return splitToolId(pattern.replace(/\.\*$/, '.x'))?.module;
}

function describeNoTool({ tools, effects, privileged }: Rule): ProblemOfRule {
  const asked = [
    ...(effects === undefined ? [] : [`has effect ${effects.join(' or ')}`]),
    ...(privileged === undefined ? [] : [`is ${privileged ? '' : 'not '}privileged`]),
  ];
  const which = tools === undefined ? 'no published tool' : 'none of its tools';
  return { path: [], text: `it can never match: ${which} ${asked.join(' and ')}` };
}

/**
 * Finds conditions about arguments that the tools do not have. Every tool that the rule names must have the argument; of the tools that a
 * pattern matches, one is enough.
 */
function findPointerProblems(rule: Rule, about: readonly RuleTool[], near: NearNames): ProblemOfRule[] {
  const isNamed = ({ id }: RuleTool): boolean => rule.tools?.includes(id) === true;
  return (rule.arguments ?? []).flatMap((condition, index): ProblemOfRule[] => {
    const path = ['arguments', index];
    const misfits = about.filter((tool) => findMisfit(tool, condition) !== undefined);
    const named = misfits.filter(isNamed).map((tool) => ({ path, text: findMisfit(tool, condition, near)! }));
    if (named.length > 0 || misfits.length < about.length) return named;
    const first = findMisfit(about[0]!, condition, near)!;
    return [{ path, text: about.length === 1 ? first : `it fits no tool that it is about: ${first}` }];
  });
}

/** Finds conditions on arguments that a tool accepts but does not declare. Such an argument may be intended or misspelt. */
export function findUndeclared(rule: Rule, { tools }: KnownTools, near: NearNames): string[] {
  const about = tools.filter((tool) => isAbout(rule, tool));
  return (rule.arguments ?? []).flatMap(({ at }) => {
    const steps = parsePlace(at) ?? [];
    const isDeclared = ({ inputSchema }: RuleTool): boolean => typesAt(inputSchema, steps, 'declared').size > 0;
    if (about.length === 0 || about.some(isDeclared) || about.every((tool) => typesOfTool(tool, steps).size === 0))
      return [];
    const [first] = about;
    return [`${first!.id} declares no argument ${at}${guessArgument(first!, at, near)}; its schema accepts any`];
  });
}

/** Finds conditions of a grant that no value of the tool's arguments can meet. */
export function findMisfits(tool: RuleTool, conditions: readonly ArgumentCondition[], near: NearNames): string[] {
  return conditions.flatMap((condition, index) => {
    const misfit = findMisfit(tool, condition, near);
    return misfit === undefined ? [] : [`${index}.at: ${misfit}`];
  });
}

/** The types that an argument of the tool can have when the rules see it. */
function typesOfTool({ inputSchema, refusesUndeclared }: RuleTool, steps: readonly PointerStep[]): JsonTypes {
  return typesAt(inputSchema, steps, refusesUndeclared === true ? 'refused' : 'written');
}

function guessArgument({ inputSchema }: RuleTool, at: string, near: NearNames): string {
  const { properties } = inputSchema;
  const known = isJsonObject(properties) ? Object.keys(properties).map((name) => `/${name}`) : [];
  return parsePlace(at)?.length === 1 ? guessName(at, known, near) : '';
}

/** Explains why a tool can never have the value that the condition compares. Undefined if it can. */
function findMisfit(tool: RuleTool, condition: ArgumentCondition, near?: NearNames): string | undefined {
  const steps = parsePlace(condition.at) ?? [];
  const types = typesOfTool(tool, steps);
  if (types.size === 0) {
    const hint = near === undefined ? '' : guessArgument(tool, condition.at, near);
    return `${tool.id} has no argument ${condition.at}${hint}`;
  }
  if (typesOf(condition).some((type) => types.has(type))) return undefined;
  return `${comparisonsOf(condition)[0]} cannot judge ${condition.at} of ${tool.id}, a ${[...types].join(' or ')}`;
}
