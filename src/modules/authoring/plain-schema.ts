import type { JsonObject } from '../../base/json.ts';
import type { StandardSchema } from './standard-schema.ts';

/**
 * Wraps a plain JSON Schema (draft 2020-12) for use where a Standard Schema is expected. `validate` accepts every value and changes
 * nothing; the plane checks values against the JSON Schema.
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
