import type { ErrorObject } from 'ajv';
import type { JsonObject } from '../../base/json.ts';
import { parsePointer } from '../../base/json-pointer.ts';
import { findSchemaFault } from './inspect-schema.ts';
import { schemaValidatorFor } from './schema-dialects.ts';

/** Returns the problems of a value; empty if it fits. They name places and rules, never a value. */
export type Validate = (value: unknown) => string[];

/** @internal */
export const MAX_PROBLEMS = 8;
/**
 * Max members of a value for which all problems are collected. For a larger value only the first problem is reported, because collecting
 * all would take too long.
 */
const MAX_MEMBERS_FOR_ALL = 1_000;

/** Compiles a schema. Throws if the schema cannot be used; `findSchemaFault` returns the reason beforehand. */
export function compileSchema(schema: JsonObject): Validate {
  const fault = findSchemaFault(schema);
  if (fault !== undefined) throw new TypeError(`The schema cannot be used: ${fault}.`);
  const validator = schemaValidatorFor(schema)!;
  // There are two compiled programs. The first one stops at the first problem and is used for every value. The second one finds all
  // problems and is compiled only when a value is wrong.
  const findFirst = validator.compile(schema, false);
  let findAll: ReturnType<typeof validator.compile> | undefined;
  return (value) => {
    const first = findFirst(value);
    if (first.length === 0) return [];
    if (countMembers(value, MAX_MEMBERS_FOR_ALL) >= MAX_MEMBERS_FOR_ALL) return describeProblems(first);
    findAll ??= validator.compile(schema, true);
    const all = findAll(value);
    return describeProblems(all.length === 0 ? first : all);
  };
}

/** A cache of compiled validators by digest. Those that were not used lately are evicted first. */
export interface ValidatorCache {
  validatorOf(digest: string, schema: JsonObject): Validate;
  readonly size: number;
}

interface Kept {
  readonly validate: Validate;
  readonly characters: number;
  used: boolean;
}

/**
 * Max characters of all schemas in the cache. Compiled code takes about thirty times the memory of its schema's text, so at most 250 MiB.
 * Compiling takes a thousand times as long as validating, so all tools of a large catalog must fit.
 */
const MAX_CHARACTERS = 8 * 1024 * 1024;

export function createValidatorCache(maxCharacters = MAX_CHARACTERS): ValidatorCache {
  const kept = new Map<string, Kept>();
  let characters = 0;

  /**
   * Evicts entries until there is room. An entry that was used since it was last examined is kept for one more round. An exact order of use
   * would slow down every call.
   */
  function makeRoom(wanted: number): void {
    for (const [digest, entry] of kept) {
      if (characters + wanted <= maxCharacters) return;
      kept.delete(digest);
      if (entry.used) kept.set(digest, entry);
      else characters -= entry.characters;
      entry.used = false;
    }
  }

  return {
    get size() {
      return kept.size;
    },
    validatorOf(digest, schema) {
      const found = kept.get(digest);
      if (found !== undefined) {
        found.used = true;
        return found.validate;
      }
      const entry = { validate: compileSafely(schema), characters: JSON.stringify(schema).length, used: false };
      makeRoom(entry.characters);
      kept.set(digest, entry);
      characters += entry.characters;
      return entry.validate;
    },
  };
}

/**
 * Compiles a schema without throwing. If a schema passed inspection but cannot be compiled, all calls of its tool are invalid; the worker
 * continues.
 */
function compileSafely(schema: JsonObject): Validate {
  try {
    return compileSchema(schema);
  } catch {
    return () => ['the schema of this tool cannot be used'];
  }
}

function countMembers(value: unknown, enough: number): number {
  let count = 0;
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); next !== undefined && count < enough; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.values(next);
    count += members.length;
    if (count < enough) waiting.push(...members.filter((member) => typeof member === 'object'));
  }
  return count;
}

/** Keywords that are not reported by themselves: the errors inside them state the problem. */
const CONTAINERS: ReadonlySet<string> = new Set(['if', '$ref', 'propertyNames']);

function describeProblems(errors: readonly ErrorObject[]): string[] {
  const specific = errors.filter((error) => !CONTAINERS.has(error.keyword));
  const problems = new Set((specific.length > 0 ? specific : errors).slice(0, MAX_PROBLEMS * 4).map(describeProblem));
  return [...problems].slice(0, MAX_PROBLEMS);
}

function describeProblem(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return `${showPlace(error.instancePath, params['missingProperty'])}: is missing`;
    case 'additionalProperties':
      return `${showPlace(error.instancePath, params['additionalProperty'])}: is not a known field`;
    case 'unevaluatedProperties':
      return `${showPlace(error.instancePath, params['unevaluatedProperty'])}: is not a known field`;
    case 'enum':
      return `${showPlace(error.instancePath)}: must be one of ${showAllowed(params['allowedValues'])}`;
    case 'const':
      return `${showPlace(error.instancePath)}: must be ${showAllowed([params['allowedValue']])}`;
    case 'type':
      return `${showPlace(error.instancePath)}: must be ${[params['type']].flat().join(' or ')}`;
    default:
      return `${showPlace(error.instancePath)}: ${(error.message ?? 'does not fit').slice(0, 120)}`;
  }
}

/** Shows the place `/list/0/name` as `list[0].name`. Names may come from the caller, so they are cut and escaped. */
function showPlace(pointer: string, last?: unknown): string {
  const names = (parsePointer(pointer) ?? []).map(({ name }) => name);
  if (typeof last === 'string') names.push(last);
  const shown = names.slice(0, 12).map((name, index) => {
    if (/^\d{1,9}$/.test(name)) return `[${name}]`;
    if (!/^[\w-]{1,64}$/.test(name)) return `[${JSON.stringify(name.slice(0, 40))}]`;
    return index === 0 ? name : `.${name}`;
  });
  return shown.length === 0 ? 'value' : shown.join('');
}

function showAllowed(values: unknown): string {
  const list = Array.isArray(values) ? values : [];
  const shown = list.slice(0, 10).map((value) => JSON.stringify(value).slice(0, 40));
  return `${shown.join(', ')}${list.length > shown.length ? ', …' : ''}`;
}
