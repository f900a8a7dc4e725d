import type { JsonObject, JsonValue } from './json.ts';
import { hasLoneSurrogate } from './well-formed.ts';

const MAX_DEPTH = 64;

/**
 * Copies a JSON value, reading every member once. Throws a TypeError that names the problem, and never the value, for anything that JSON
 * would drop or rewrite: functions, dates, maps, class instances, NaN. Members that are `undefined` count as absent.
 */
export function copyPlain(value: unknown, depth = 0): JsonValue {
  switch (typeof value) {
    case 'string':
      if (hasLoneSurrogate(value)) throw new TypeError('a text has half of a surrogate pair');
      return value;
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError('a number is not finite');
      return value === 0 ? 0 : value;
    case 'object':
      if (value === null) return null;
      if (depth >= MAX_DEPTH) throw new TypeError(`it is nested deeper than ${MAX_DEPTH} levels`);
      return Array.isArray(value) ? copyList(value, depth + 1) : copyMembers(value, depth + 1);
    default:
      throw new TypeError(`it holds a value of type ${typeof value}`);
  }
}

function copyList(list: readonly unknown[], depth: number): JsonValue[] {
  const copy: JsonValue[] = [];
  for (let index = 0; index < list.length; index += 1) copy.push(copyPlain(list[index], depth));
  return copy;
}

function copyMembers(object: object, depth: number): JsonObject {
  const prototype: unknown = Object.getPrototypeOf(object);
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (!isPlain) throw new TypeError('it holds an object of a class');
  const copy: JsonObject = {};
  for (const key of Object.keys(object)) {
    const member = (object as Record<string, unknown>)[key];
    if (member === undefined) continue;
    // Assigning it would replace the prototype of the copy.
    if (key === '__proto__') throw new TypeError('a key is not allowed');
    if (hasLoneSurrogate(key)) throw new TypeError('a key has half of a surrogate pair');
    copy[key] = copyPlain(member, depth);
  }
  return copy;
}
