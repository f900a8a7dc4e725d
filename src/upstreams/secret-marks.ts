import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/** A schema without the marks that declare arguments secret: `x-secret`, `writeOnly` and the format `password`. */
export function withoutSecretMarks(schema: JsonObject): JsonObject {
  return strip(schema) as JsonObject;
}

function strip(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(strip);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name, member]) => !isMark(name, member));
  return Object.fromEntries(kept.map(([name, member]) => [name, strip(member)]));
}

/** A property that is itself called `writeOnly` has a schema as its value, so it is not taken for a mark. */
function isMark(name: string, member: JsonValue): boolean {
  if (name === 'format') return member === 'password';
  return (name === 'x-secret' || name === 'writeOnly') && member === true;
}
