import type { JsonObject, JsonValue } from '../domain/json.ts';

/** A copy of a value known to be JSON; several times faster than structuredClone, and every call needs three. */
export function copyJson<Value extends JsonValue>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copyJson(item)) as Value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const property = copyJson((value as JsonObject)[key]!);
    // Assigned, it would become the copy's prototype, and what it holds would look like checked arguments.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: property, enumerable: true, writable: true });
    else copy[key] = property;
  }
  return copy as Value;
}
