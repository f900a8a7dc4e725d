import { toJSONSchema } from 'zod';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isStandardSchema, type StandardSchema } from './standard-schema.ts';

const TARGET = 'draft-2020-12';

/**
 * The JSON Schema of the value that goes into a schema: arguments before their defaults are filled in, or the value that a tool returns.
 * With `output`, the JSON Schema of the parsed value. Throws with the library's own message if the schema cannot be expressed in JSON
 * Schema.
 */
export function deriveJsonSchema(schema: unknown, io: 'input' | 'output' = 'input'): JsonObject {
  const derived = isStandardSchema(schema) ? convert(schema, io) : schema;
  if (!isJsonObject(derived)) throw new TypeError('it is neither a Standard Schema nor a JSON Schema object');
  // The schema is copied through JSON text. What is published is then exactly what JSON can express, and the tool's code cannot change it
  // afterwards.
  const plain = JSON.parse(JSON.stringify(derived)) as JsonObject;
  delete plain['$schema'];
  return plain;
}

function convert(schema: StandardSchema, io: 'input' | 'output'): unknown {
  const { jsonSchema, vendor } = schema['~standard'];
  if (jsonSchema !== undefined) return jsonSchema[io]({ target: TARGET });
  if (vendor === 'zod' && '_zod' in schema) {
    return toJSONSchema(schema as unknown as Parameters<typeof toJSONSchema>[0], { target: TARGET, io });
  }
  throw new TypeError(`the library "${vendor}" gives no JSON Schema; wrap one with jsonSchema()`);
}
