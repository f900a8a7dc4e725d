import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../base/json.ts';
import type { ArgumentCondition, Rule, Comparison } from '../../domain/policy/rule.ts';
import { comparisonsOf, compileCondition } from '../rules/compile-condition.ts';
import { isMet } from '../rules/comparison-result.ts';
import { JSON_TYPES, typeOfJson, type JsonType } from '../rules/json-values.ts';
import { readHostEntry } from '../rules/match-host.ts';
import { isBelow, readRoot } from '../rules/match-root.ts';

export interface Contradiction {
  /** Indexes of the two conditions in the rule. */
  readonly one: number;
  readonly other: number;
}

/** Finds two conditions on one pointer that no value can meet together. Returns a contradiction only if it is certain. */
export function findContradiction({ verdict, arguments: conditions = [] }: Rule): Contradiction | undefined {
  const isAllow = verdict === 'allow';
  for (const [other, second] of conditions.entries()) {
    for (const [one, first] of conditions.slice(0, other).entries()) {
      if (first.at !== second.at) continue;
      // Except in an `allow` rule, one matching element is enough, so two different elements can meet the two conditions.
      if (!isAllow && first.at.split('/').includes('*')) continue;
      if (contradict(first, second, isAllow)) return { one, other };
    }
  }
  return undefined;
}

function contradict(one: ArgumentCondition, other: ArgumentCondition, isAllow: boolean): boolean {
  const { not: _, ...bare } = one;
  const { not: __, ...otherBare } = other;
  if (isDeepStrictEqual(bare, otherBare)) return (one.not === true) !== (other.not === true);
  if (wantsNothing(one) || wantsNothing(other)) return !canBeMissing(one, isAllow) || !canBeMissing(other, isAllow);
  if (one.exists !== undefined || other.exists !== undefined) return false;
  const values = valuesOf(one) ?? valuesOf(other);
  if (values !== undefined) return !values.some((value) => meets(one, value) && meets(other, value));
  if (!judgedTypes(one).some((type) => judgedTypes(other).includes(type))) return true;
  return one.not === true || other.not === true ? coversNegated(one, other) : areApart(one, other);
}

/** `exists: false`, or the same written as `not` with `exists: true`. */
function wantsNothing({ exists, not = false }: ArgumentCondition): boolean {
  return exists !== undefined && exists === not;
}

function canBeMissing(condition: ArgumentCondition, isAllow: boolean): boolean {
  return isMet(compileCondition(condition).ofMissing, condition.not === true, isAllow);
}

/** The values that a condition with `equals` or `in` accepts. Undefined for all other conditions. */
function valuesOf({ equals, in: list, not = false }: ArgumentCondition): readonly JsonValue[] | undefined {
  if (not) return undefined;
  return equals === undefined ? list : [equals];
}

function meets(condition: ArgumentCondition, value: JsonValue): boolean {
  return isMet(compileCondition(condition).judge(value), condition.not === true, true);
}

function judgedTypes(condition: ArgumentCondition): readonly JsonType[] {
  const isListed = condition.equals !== undefined || condition.in !== undefined;
  return isListed ? [...typesOf(condition), 'null'] : typesOf(condition);
}

/**
 * The types of values for which a comparison can hold. `equals` and `in` can also be evaluated on null, where they normally fail;
 * `judgedTypes` adds null for them.
 */
export function typesOf(condition: ArgumentCondition): readonly JsonType[] {
  const [comparison] = comparisonsOf(condition);
  if (comparison === undefined) return JSON_TYPES;
  switch (comparison) {
    case 'prefix':
    case 'glob':
    case 'pattern':
    case 'host':
    case 'root':
      return ['text'];
    case 'range':
      return ['number'];
    case 'length':
      return ['text', 'list'];
    case 'equals':
    case 'in': {
      const listed = valuesOf({ ...condition, not: false })!;
      // If only null is listed, the comparison decides for values of every type: they either are null or are not.
      return listed.every((value) => value === null) ? JSON_TYPES : listed.map(typeOfJson);
    }
    case 'exists':
      return JSON_TYPES;
  }
}

/** True if every value that one condition accepts is excluded by the other, as in `range 1–10` and `not range 0–20`. */
function coversNegated(one: ArgumentCondition, other: ArgumentCondition): boolean {
  if (one.not === other.not) return false;
  const [wanted, excluded] = one.not === true ? [other, one] : [one, other];
  for (const name of ['range', 'length'] as const) {
    const [inner, outer] = [wanted[name], excluded[name]];
    if (inner === undefined || outer === undefined) continue;
    return minOf(inner) >= minOf(outer) && maxOf(inner) <= maxOf(outer);
  }
  if (wanted.prefix !== undefined && excluded.prefix !== undefined) return wanted.prefix.startsWith(excluded.prefix);
  return false;
}

type Bounds = NonNullable<ArgumentCondition['range']>;
const minOf = ({ min = -Infinity }: Bounds): number => min;
const maxOf = ({ max = Infinity }: Bounds): number => max;

const APART: Partial<Record<Comparison, (one: ArgumentCondition, other: ArgumentCondition) => boolean>> = {
  range: (one, other) => minOf(one.range!) > maxOf(other.range!) || minOf(other.range!) > maxOf(one.range!),
  length: (one, other) => minOf(one.length!) > maxOf(other.length!) || minOf(other.length!) > maxOf(one.length!),
  prefix: (one, other) => !one.prefix!.startsWith(other.prefix!) && !other.prefix!.startsWith(one.prefix!),
  host: (one, other) => !one.host!.some((a) => other.host!.some((b) => hostsMeet(a, b))),
  root: (one, other) => !one.root!.some((a) => other.root!.some((b) => rootsMeet(a, b))),
};

function areApart(one: ArgumentCondition, other: ArgumentCondition): boolean {
  const [comparison] = comparisonsOf(one);
  if (comparison === undefined || comparisonsOf(other)[0] !== comparison) return false;
  return APART[comparison]?.(one, other) === true;
}

function hostsMeet(a: string, b: string): boolean {
  const [one, other] = [readHostEntry(a)!, readHostEntry(b)!];
  const within = (inner: typeof one, outer: typeof one): boolean =>
    outer.below ? inner.name.endsWith(`.${outer.name}`) || (inner.below && inner.name === outer.name) : false;
  return (!one.below && !other.below && one.name === other.name) || within(one, other) || within(other, one);
}

function rootsMeet(a: string, b: string): boolean {
  const [one, other] = [readRoot(a)!, readRoot(b)!];
  return isBelow(one, other) || isBelow(other, one);
}
