import type { JsonValue } from '../../base/json.ts';

const MAX_CHANGES = 5;
const PLAIN_NAME = /^[\w-]{1,64}$/;
const MAX_NAME = 40;

/**
 * Lists where a parsed value differs from the JSON it was made from, as `environment: changed`, without any value. Empty: it is the same
 * JSON. A property that is `undefined` counts as absent. A Date, a Map or an instance of a class is a change, even if it would be written
 * as the same text.
 */
export function findChanges(judged: JsonValue, parsed: unknown): string[] {
  if (isSameJson(judged, parsed)) return [];
  const found: string[] = [];
  collect(judged, parsed, [], found);
  return found;
}

/** Whether both are the same JSON. Does not list the changes and so is fast: every call of a tool with a schema needs this check. */
function isSameJson(judged: JsonValue, parsed: unknown): boolean {
  if (typeof judged !== 'object' || judged === null) return judged === parsed;
  if (Array.isArray(judged)) {
    if (!Array.isArray(parsed) || parsed.length !== judged.length) return false;
    for (let index = 0; index < judged.length; index += 1) if (!isSameJson(judged[index]!, parsed[index])) return false;
    return true;
  }
  if (!isPlainObject(parsed)) return false;
  const names = Object.keys(judged);
  for (const name of names) {
    if (!Object.hasOwn(parsed, name) || !isSameJson(judged[name]!, parsed[name])) return false;
  }
  return definedMembers(parsed) === names.length;
}

function definedMembers(object: Readonly<Record<string, unknown>>): number {
  let count = 0;
  for (const name of Object.keys(object)) if (object[name] !== undefined) count += 1;
  return count;
}

function collect(judged: JsonValue, parsed: unknown, path: readonly string[], found: string[]): void {
  if (found.length >= MAX_CHANGES || isSameJson(judged, parsed)) return;
  const isObject = typeof judged === 'object' && judged !== null && !Array.isArray(judged);
  if (!isObject || !isPlainObject(parsed)) {
    found.push(`${showPath(path)}: changed`);
    return;
  }
  for (const name of Object.keys(judged)) {
    const at = [...path, name];
    if (!Object.hasOwn(parsed, name) || parsed[name] === undefined) found.push(`${showPath(at)}: removed`);
    else collect(judged[name]!, parsed[name], at, found);
  }
  for (const name of Object.keys(parsed)) {
    if (parsed[name] !== undefined && !Object.hasOwn(judged, name)) found.push(`${showPath([...path, name])}: added`);
  }
  found.splice(MAX_CHANGES);
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The names come from the caller, so they are cut and escaped. */
function showPath(path: readonly string[]): string {
  if (path.length === 0) return 'value';
  return path.map((name) => (PLAIN_NAME.test(name) ? name : JSON.stringify(name.slice(0, MAX_NAME)))).join('.');
}
