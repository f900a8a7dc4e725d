import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { ArgumentCondition, Comparison } from '../../domain/policy/rule.ts';
import { parsePointer, type PointerStep } from '../../base/json-pointer.ts';
import { oneOfValues } from './json-values.ts';
import { isMet, type Compare, type ComparisonResult } from './comparison-result.ts';
import { matchHost } from './match-host.ts';
import { matchRoot } from './match-root.ts';
import { matchGlob, matchPattern, matchPrefix } from './match-text.ts';

/** A record instead of a list, so that the compiler reports a comparison that is missing here. */
const EVERY_COMPARISON: Readonly<Record<Comparison, true>> = {
  exists: true,
  equals: true,
  in: true,
  prefix: true,
  glob: true,
  pattern: true,
  range: true,
  length: true,
  host: true,
  root: true,
};
export const COMPARISONS = Object.keys(EVERY_COMPARISON) as readonly Comparison[];

const MAX_POINTER_STEPS = 32;

/**
 * Parses the place that a condition names: a JSON pointer (RFC 6901) in which `*` means every element of a list or every member of an
 * object. Undefined if the text is not such a pointer.
 */
export function parsePlace(text: string): readonly PointerStep[] | undefined {
  const steps = parsePointer(text, { every: true });
  return steps === undefined || steps.length > MAX_POINTER_STEPS ? undefined : Object.freeze(steps);
}

export interface CompiledCondition {
  readonly steps: readonly PointerStep[];
  readonly not: boolean;
  readonly judge: Compare;
  /** The judgement if the pointer leads to nothing. */
  readonly ofMissing: ComparisonResult;
}

const KEYS: readonly string[] = ['at', 'not', ...COMPARISONS];

/** A condition that a later release wrote, or that bypassed the checks: its meaning is not known, so it judges every value as unclear. */
const NOT_UNDERSTOOD: CompiledCondition = Object.freeze({
  steps: [],
  not: false,
  judge: () => 'unclear' as const,
  ofMissing: 'unclear',
});

export function compileCondition(condition: ArgumentCondition): CompiledCondition {
  const steps = parsePlace(condition.at);
  const [comparison, ...more] = comparisonsOf(condition);
  const isKnown = Object.keys(condition).every((key) => KEYS.includes(key));
  if (steps === undefined || comparison === undefined || more.length > 0 || !isKnown) return NOT_UNDERSTOOD;
  try {
    const judge = judgeOf(condition, comparison);
    const ofMissing = comparison !== 'exists' ? 'missing' : condition.exists === true ? 'fails' : 'holds';
    return Object.freeze({ steps, not: condition.not === true, judge, ofMissing });
  } catch {
    return NOT_UNDERSTOOD;
  }
}

export function comparisonsOf(condition: ArgumentCondition): Comparison[] {
  return COMPARISONS.filter((name) => condition[name] !== undefined);
}

function judgeOf(condition: ArgumentCondition, comparison: Comparison): Compare {
  switch (comparison) {
    case 'exists':
      return () => (condition.exists === true ? 'holds' : 'fails');
    case 'equals':
      return oneOfValues([condition.equals!]);
    case 'in':
      return oneOfValues(condition.in!);
    case 'prefix':
      return matchPrefix(condition.prefix!);
    case 'glob':
      return matchGlob(condition.glob!);
    case 'pattern':
      return matchPattern(condition.pattern!);
    case 'range':
      return within(condition.range!, (value) => (typeof value === 'number' ? value : undefined));
    case 'length':
      return within(condition.length!, lengthOf);
    case 'host':
      return matchHost(condition.host!);
    case 'root':
      return matchRoot(condition.root!);
  }
}

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** Both bounds are inclusive. */
function within(
  { min = -Infinity, max = Infinity }: Bounds,
  measure: (value: JsonValue) => number | undefined,
): Compare {
  return (value) => {
    const measured = measure(value);
    if (measured === undefined) return value === null ? 'missing' : 'unclear';
    return measured >= min && measured <= max ? 'holds' : 'fails';
  };
}

/** Number of characters (code points, as JSON Schema counts them) or of elements. */
function lengthOf(value: JsonValue): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (typeof value !== 'string') return undefined;
  let pairs = 0;
  for (let index = 0; index < value.length; index += 1) {
    if (value.codePointAt(index)! > 0xffff) pairs += 1;
  }
  return value.length - pairs;
}

/** Whether the arguments meet the condition. In an allow rule every element must meet it; in an ask or deny rule one element is enough. */
export function conditionIsMet(condition: CompiledCondition, args: JsonValue, isAllow: boolean): boolean {
  return isMetBelow(condition, args, 0, isAllow);
}

function isMetBelow(condition: CompiledCondition, start: JsonValue, depth: number, isAllow: boolean): boolean {
  const { steps, not, ofMissing } = condition;
  let value = start;
  for (let at = depth; at < steps.length; at += 1) {
    const step = steps[at]!;
    if (value === null) return isMet(ofMissing, not, isAllow);
    if (typeof value !== 'object') return isMet('unclear', not, isAllow);
    if (step.kind === 'every') return isMetByElements(condition, elementsOf(value), at + 1, isAllow);
    if (Array.isArray(value)) {
      if (step.index < 0) return isMet('unclear', not, isAllow);
      if (step.index >= value.length) return isMet(ofMissing, not, isAllow);
      value = value[step.index]!;
    } else {
      if (!Object.hasOwn(value, step.name)) return isMet(ofMissing, not, isAllow);
      value = value[step.name]!;
    }
  }
  return isMet(condition.judge(value), not, isAllow);
}

function elementsOf(value: JsonValue[] | JsonObject): readonly JsonValue[] {
  return Array.isArray(value) ? value : Object.values(value);
}

function isMetByElements(
  condition: CompiledCondition,
  elements: readonly JsonValue[],
  depth: number,
  isAllow: boolean,
): boolean {
  if (elements.length === 0) return isMet(condition.ofMissing, condition.not, isAllow);
  for (const element of elements) {
    if (isMetBelow(condition, element, depth, isAllow) !== isAllow) return !isAllow;
  }
  return isAllow;
}
