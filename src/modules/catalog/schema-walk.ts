import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { readReference } from '../../base/json-pointer.ts';

/**
 * Keywords whose value is one schema (`ONE`), a list of schemas (`LISTS`), or schemas by name (`NAMED`). All other values are data and are
 * never searched for schemas.
 */
const ONE = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const NAMED = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'];
/** Keywords whose schemas apply to the same value and not to a part of it. */
const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'dependencies',
  'dependentSchemas',
  'else',
  'if',
  'not',
  'oneOf',
  'then',
]);

export interface Subschema {
  readonly schema: JsonObject;
  readonly inPlace: boolean;
}

export function subschemasOf(schema: JsonObject): Subschema[] {
  const found: Subschema[] = [];
  const add = (keyword: string, value: JsonValue | undefined): void => {
    if (isJsonObject(value)) found.push({ schema: value, inPlace: IN_PLACE.has(keyword) });
  };
  for (const keyword of ONE) if (Object.hasOwn(schema, keyword)) add(keyword, schema[keyword]);
  for (const keyword of LISTS) {
    const list = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (Array.isArray(list)) for (const one of list) add(keyword, one);
  }
  for (const keyword of NAMED) {
    const map = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
    if (isJsonObject(map)) for (const one of Object.values(map)) add(keyword, one);
  }
  return found;
}

/** Returns a copy in which every subschema is replaced by what `change` returns, outermost first. Data inside keywords is not copied. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const copy = change(schema);
  const inner = (value: JsonValue): JsonValue => (isJsonObject(value) ? mapSchemas(value, change) : value);
  for (const keyword of ONE) {
    if (Object.hasOwn(copy, keyword)) copy[keyword] = inner(copy[keyword]!);
  }
  for (const keyword of LISTS) {
    const list = Object.hasOwn(copy, keyword) ? copy[keyword] : undefined;
    if (Array.isArray(list)) copy[keyword] = list.map(inner);
  }
  for (const keyword of NAMED) {
    const map = Object.hasOwn(copy, keyword) ? copy[keyword] : undefined;
    if (isJsonObject(map)) {
      copy[keyword] = Object.fromEntries(Object.entries(map).map(([name, value]) => [name, inner(value)]));
    }
  }
  return copy;
}

/** Resolves `#`, `#/json/pointer` and `#anchor`; undefined if the reference leads nowhere. */
export function resolveLocalReference(
  root: JsonObject,
  reference: string,
  anchors: ReadonlyMap<string, JsonObject>,
): JsonValue | undefined {
  const isPointer = reference === '#' || reference.startsWith('#/');
  return isPointer ? readReference(root, reference) : anchors.get(reference.slice(1));
}
