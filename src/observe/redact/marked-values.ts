import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { isHarmless } from './find-assignments.ts';
import type { SchemaPlace } from './schema-secrets.ts';

/** Shorter values are too common in other texts to be searched for. */
export const MIN_MARKED = 4;

/**
 * The texts and numbers in arguments that a schema marks as secret, each once. References to secrets are left out, because they are not
 * secret values.
 */
export function markedValues(args: JsonValue, schema: SchemaPlace): Set<string> {
  const found = new Set<string>();
  look(args, schema, found);
  return found;
}

/** Walks the arguments. `schema` is undefined below a value that is marked secret: then everything in it is secret. */
function look(value: JsonValue, schema: SchemaPlace | undefined, found: Set<string>): void {
  const below = schema?.isSecret === true ? undefined : schema;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) look(item, below?.item(index), found);
  } else if (isJsonObject(value)) {
    for (const [key, member] of Object.entries(value)) look(member, below?.member(key), found);
  } else if (below === undefined && (typeof value === 'string' || typeof value === 'number')) {
    const text = String(value);
    if (text.length >= MIN_MARKED && !isHarmless(text)) found.add(text);
  }
}
