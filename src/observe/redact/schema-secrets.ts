import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { readReference } from '../../base/json-pointer.ts';

/** All schemas that apply to one value, from all branches together. */
export interface SchemaPlace {
  readonly isSecret: boolean;
  member(key: string): SchemaPlace;
  item(index: number): SchemaPlace;
}

const NOWHERE: SchemaPlace = { isSecret: false, member: () => NOWHERE, item: () => NOWHERE };
/** By the schema of a tool's declaration, which never changes. */
const known = new WeakMap<JsonObject, SchemaPlace>();

/**
 * What an input schema declares secret with `x-secret: true`, `writeOnly: true` or `format: password`, at any depth and in any branch.
 * References inside the schema are followed. The result is cached per schema; undefined if the schema declares no secret, so that nothing
 * has to be walked.
 */
export function secretsOfSchema(schema: JsonObject | undefined): SchemaPlace | undefined {
  if (schema === undefined) return undefined;
  let place = known.get(schema);
  if (place === undefined) {
    place = declaresAny(schema, new Set()) ? new Place(schema, [schema]) : NOWHERE;
    known.set(schema, place);
  }
  return place === NOWHERE ? undefined : place;
}

function isDeclared(schema: JsonObject): boolean {
  return schema['x-secret'] === true || schema['writeOnly'] === true || schema['format'] === 'password';
}

/** Searches the whole schema, data included: a false match only costs a closer look. */
function declaresAny(value: JsonValue, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  seen.add(value);
  if (Array.isArray(value)) return value.some((item) => declaresAny(item, seen));
  return isDeclared(value) || Object.values(value).some((member) => declaresAny(member, seen));
}

const IN_PLACE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const IN_PLACE = ['then', 'else', 'if'];

class Place implements SchemaPlace {
  readonly isSecret: boolean;
  readonly #root: JsonObject;
  readonly #schemas: readonly JsonObject[];

  constructor(root: JsonObject, schemas: readonly (JsonValue | undefined)[]) {
    this.#root = root;
    this.#schemas = spread(root, schemas);
    this.isSecret = this.#schemas.some(isDeclared);
  }

  member(key: string): SchemaPlace {
    return this.#below((schema) => {
      const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
      if (isJsonObject(properties) && Object.hasOwn(properties, key)) return [properties[key]];
      // Patterns are not evaluated: their author may not be trusted, and applying all of them can only hide more.
      const patterned = isJsonObject(patternProperties) ? Object.values(patternProperties) : [];
      return [...patterned, additionalProperties, unevaluatedProperties];
    });
  }

  item(index: number): SchemaPlace {
    return this.#below(({ prefixItems, items, additionalItems, contains, unevaluatedItems }) => {
      const listed = Array.isArray(items) ? items[index] : items;
      const first = Array.isArray(prefixItems) ? prefixItems[index] : undefined;
      return [first, listed, additionalItems, contains, unevaluatedItems];
    });
  }

  #below(step: (schema: JsonObject) => (JsonValue | undefined)[]): SchemaPlace {
    const schemas = this.#schemas.flatMap(step).filter((schema) => isJsonObject(schema));
    return schemas.length === 0 ? NOWHERE : new Place(this.#root, schemas);
  }
}

/** Collects the schemas that apply to the same value. Each schema is visited once, so that no schema can make this slow. */
function spread(root: JsonObject, schemas: readonly (JsonValue | undefined)[]): JsonObject[] {
  const found = new Set<JsonObject>();
  const waiting = [...schemas];
  for (let next = waiting.pop(); waiting.length > 0 || next !== undefined; next = waiting.pop()) {
    if (!isJsonObject(next) || found.has(next)) continue;
    found.add(next);
    for (const name of IN_PLACE_LISTS) if (Array.isArray(next[name])) waiting.push(...next[name]);
    for (const name of IN_PLACE) waiting.push(next[name]);
    if (isJsonObject(next['dependentSchemas'])) waiting.push(...Object.values(next['dependentSchemas']));
    if (typeof next['$ref'] === 'string') waiting.push(readReference(root, next['$ref']));
  }
  return [...found];
}
