import type { JsonObject } from '../../base/json.ts';
import type { StandardSchema } from './standard-schema.ts';

/**
 * Wraps a plain JSON Schema (draft 2020-12) for use where a Standard Schema is expected. The plane checks values against it; nothing is
 * converted.
 */
export function jsonSchema<Value = JsonObject>(schema: JsonObject): StandardSchema<Value> {
  const copy = (): JsonObject => structuredClone(schema);
  return {
    '~standard': {
      version: 1,
      vendor: 'sallyport',
      validate: (value) => ({ value: value as Value }),
      jsonSchema: { input: copy, output: copy },
    },
  };
}
