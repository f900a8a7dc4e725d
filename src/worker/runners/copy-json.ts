import type { JsonObject, JsonValue } from '../../base/json.ts';

/** Copies a value that is known to be JSON. Several times faster than structuredClone, and every call needs three copies. */
export function copyJson<Value extends JsonValue>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => copyJson(item)) as Value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const property = copyJson((value as JsonObject)[key]!);
    // Assigning to `__proto__` would set the copy's prototype, and the members of the value would look like checked arguments.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: property, enumerable: true, writable: true });
    else copy[key] = property;
  }
  return copy as Value;
}
