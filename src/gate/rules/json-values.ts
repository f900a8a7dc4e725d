import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { Compare } from './comparison-result.ts';

export const JSON_TYPES = ['null', 'boolean', 'number', 'text', 'list', 'group'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

export function typeOfJson(value: JsonValue): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  return typeof value === 'object' ? 'group' : (typeof value as 'boolean' | 'number');
}

/** Whether two values are the same JSON, whatever the order of their members. */
function sameJson(one: JsonValue, other: JsonValue): boolean {
  if (one === other) return true;
  if (Array.isArray(one)) {
    return (
      Array.isArray(other) && one.length === other.length && one.every((value, index) => sameJson(value, other[index]!))
    );
  }
  if (!isJsonObject(one) || !isJsonObject(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name]!, other[name]!))
  );
}

/**
 * Whether a value is one of `expected`. A value whose type none of them has is `unclear`, because many tools accept "5" for 5, or ["prod"]
 * for "prod". Null is never accepted in place of another value.
 */
export function oneOfValues(expected: readonly JsonValue[]): Compare {
  const types = new Set(expected.map(typeOfJson));
  types.delete('null');
  const plain = new Set<JsonValue>(expected.filter((value) => typeof value !== 'object' || value === null));
  const structured = expected.filter((value) => typeof value === 'object' && value !== null);
  return (value) => {
    if (plain.has(value) || structured.some((one) => sameJson(one, value))) return 'holds';
    const comparable = value === null || types.size === 0 || types.has(typeOfJson(value));
    return comparable ? 'fails' : 'unclear';
  };
}
