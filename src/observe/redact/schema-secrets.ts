import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { readReference } from '../../base/json-pointer.ts';

/** All schemas that apply to one value, from all branches together. */
export interface SchemaPlace {
  readonly isSecret: boolean;
  /**
   * Whether a value that the schema does not describe may contain a secret: text in place of an object with a secret in it, or an
   * undeclared member next to a secret one. Callers misspell names and send objects as text. Such a call is refused, but it is recorded, so
   * the value must be masked.
   */
  mayHide(value: JsonValue): boolean;
  member(key: string): SchemaPlace;
  item(index: number): SchemaPlace;
}

const NOWHERE: SchemaPlace = { isSecret: false, mayHide: () => false, member: () => NOWHERE, item: () => NOWHERE };
const UNDECLARED: SchemaPlace = { ...NOWHERE, mayHide: () => true, member: () => UNDECLARED, item: () => UNDECLARED };
/** Cache by the schema of a tool's declaration, which never changes. */
const known = new WeakMap<JsonObject, SchemaPlace>();

/**
 * Finds what an input schema declares secret with `x-secret: true`, `writeOnly: true` or `format: password`, at any depth and in any
 * branch. References inside the schema are followed. Returns undefined if nothing is declared secret, so that the arguments need not be
 * walked. The result is cached per schema.
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
const IN_PLACE_MAPS = ['dependentSchemas', 'dependencies'];
const REFERENCES = ['$ref', '$dynamicRef'];

class Place implements SchemaPlace {
  readonly isSecret: boolean;
  readonly #root: JsonObject;
  readonly #schemas: readonly JsonObject[];

  constructor(root: JsonObject, schemas: readonly (JsonValue | undefined)[]) {
    this.#root = root;
    this.#schemas = spread(root, schemas);
    this.isSecret = this.#schemas.some(isDeclared);
  }

  mayHide(value: JsonValue): boolean {
    const type = typeOf(value);
    return !this.#schemas.some((schema) => names(schema, type)) && this.#holdsSecret();
  }

  member(key: string): SchemaPlace {
    return this.#below((schema) => {
      const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
      if (isJsonObject(properties) && Object.hasOwn(properties, key)) return [properties[key]];
      // The patterns are not evaluated, because their author may not be trusted. All of their schemas apply, which can only hide more.
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
    const declared = this.#schemas.flatMap(step).filter((schema) => schema !== undefined && schema !== false);
    if (declared.length === 0) return this.#holdsSecret() ? UNDECLARED : NOWHERE;
    const schemas = declared.filter((schema) => isJsonObject(schema));
    return schemas.length === 0 ? NOWHERE : new Place(this.#root, schemas);
  }

  #holdsSecret(): boolean {
    return this.#schemas.some((schema) => holdsSecret(this.#root, schema));
  }
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const OBJECT_KEYWORDS = ['properties', 'patternProperties', 'additionalProperties'];
const ARRAY_KEYWORDS = ['items', 'prefixItems', 'contains'];

/** Whether a schema shows, by its type, its listed values or its keywords, that it allows values of this type. */
function names({ type, enum: values, const: only, ...schema }: JsonObject, wanted: string): boolean {
  const types = [type].flat().map((one) => (one === 'integer' ? 'number' : one));
  if (types.includes(wanted)) return true;
  if (Array.isArray(values) && values.some((value) => typeOf(value) === wanted)) return true;
  if (only !== undefined && typeOf(only) === wanted) return true;
  if (type !== undefined) return false;
  const keywords = wanted === 'object' ? OBJECT_KEYWORDS : wanted === 'array' ? ARRAY_KEYWORDS : [];
  return keywords.some((keyword) => schema[keyword] !== undefined);
}

/** Cache by the schema itself, which never changes. */
const holders = new WeakMap<JsonObject, boolean>();

/** Whether a schema declares a secret at any depth. References are followed. */
function holdsSecret(root: JsonObject, schema: JsonObject): boolean {
  const cached = holders.get(schema);
  if (cached !== undefined) return cached;
  const seen = new Set<JsonValue | undefined>();
  const waiting: (JsonValue | undefined)[] = [schema];
  let holds = false;
  while (!holds && waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (isJsonObject(next)) {
      holds = isDeclared(next);
      waiting.push(...referredBy(root, next));
    }
    for (const member of Object.values(next)) waiting.push(member as JsonValue);
  }
  holders.set(schema, holds);
  return holds;
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
    for (const name of IN_PLACE_MAPS) if (isJsonObject(next[name])) waiting.push(...Object.values(next[name]));
    waiting.push(...referredBy(root, next));
  }
  return [...found];
}

function referredBy(root: JsonObject, schema: JsonObject): (JsonValue | undefined)[] {
  return REFERENCES.map((name) => schema[name])
    .filter((reference) => typeof reference === 'string')
    .map((reference) => resolve(root, reference));
}

/** Resolves a pointer or an anchor within the schema. A tool's schema may contain no other references. */
function resolve(root: JsonObject, reference: string): JsonValue | undefined {
  const isPointer = reference === '#' || reference.startsWith('#/');
  if (isPointer) return readReference(root, reference);
  return reference.startsWith('#') ? findAnchor(root, reference.slice(1)) : undefined;
}

/** Cache by the whole schema, which never changes. */
const anchored = new WeakMap<JsonObject, Map<string, JsonObject>>();

function findAnchor(root: JsonObject, name: string): JsonObject | undefined {
  let anchors = anchored.get(root);
  if (anchors === undefined) anchored.set(root, (anchors = anchorsIn(root)));
  return anchors.get(name);
}

function anchorsIn(root: JsonObject): Map<string, JsonObject> {
  const anchors = new Map<string, JsonObject>();
  const waiting: JsonValue[] = [root];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    if (isJsonObject(next)) {
      for (const keyword of ['$anchor', '$dynamicAnchor']) {
        const name = next[keyword];
        if (typeof name === 'string') anchors.set(name, next);
      }
    }
    waiting.push(...(Object.values(next) as JsonValue[]));
  }
  return anchors;
}
