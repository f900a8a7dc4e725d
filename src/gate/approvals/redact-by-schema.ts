import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { Redact } from './render-question.ts';

/**
 * Hides what the tool's own input schema calls a secret: `writeOnly: true` or `format: password`. Looks at properties, items and the
 * branches of anyOf, oneOf and allOf; what a reference points at is shown.
 */
export function redactBySchema(inputSchema: JsonValue): Redact {
  return (pointer) => {
    const steps = pointer === '' ? [] : pointer.slice(1).split('/').map(unescapePointer);
    return schemasAt([inputSchema], steps).some(isSecret);
  };
}

function isSecret(schema: JsonValue): boolean {
  return isJsonObject(schema) && (schema['writeOnly'] === true || schema['format'] === 'password');
}

function schemasAt(schemas: readonly JsonValue[], steps: readonly string[]): JsonValue[] {
  return steps.reduce<JsonValue[]>(
    (found, step) => found.flatMap((schema) => stepInto(schema, step)),
    withBranches(schemas),
  );
}

function stepInto(schema: JsonValue, step: string): JsonValue[] {
  if (!isJsonObject(schema)) return [];
  const { properties, items, prefixItems, additionalProperties } = schema;
  const isKnown = isJsonObject(properties) && Object.hasOwn(properties, step);
  const next = [
    ...(isKnown ? [properties[step]!] : []),
    ...(!isKnown && isJsonObject(additionalProperties) ? [additionalProperties] : []),
    ...(/^\d+$/.test(step) && isJsonObject(items) ? [items] : []),
    ...(/^\d+$/.test(step) && Array.isArray(prefixItems) ? prefixItems.slice(Number(step), Number(step) + 1) : []),
  ];
  return withBranches(next);
}

function withBranches(schemas: readonly JsonValue[]): JsonValue[] {
  return schemas.flatMap((schema) => {
    if (!isJsonObject(schema)) return [];
    const branches = ['allOf', 'anyOf', 'oneOf'].flatMap((name) => {
      const list = schema[name];
      return Array.isArray(list) ? list : [];
    });
    return [schema, ...withBranches(branches)];
  });
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
