import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { PointerStep } from '../../base/json-pointer.ts';
import { JSON_TYPES, typeOfJson, type JsonType } from '../rules/json-values.ts';

export type JsonTypes = ReadonlySet<JsonType>;

const ANY: JsonTypes = new Set(JSON_TYPES);
const NONE: JsonTypes = new Set();
const BY_SCHEMA_NAME: Readonly<Record<string, JsonType>> = {
  null: 'null',
  boolean: 'boolean',
  integer: 'number',
  number: 'number',
  string: 'text',
  array: 'list',
  object: 'group',
};
/** Max depth to which a schema is followed. Schemas of tools from other sources can have any depth. */
const MAX_DEPTH = 64;

/**
 * Which members an object may have besides its `properties`. `written`: all that the schema does not forbid, as in JSON Schema. `refused`:
 * only those that the schema allows explicitly, because the tool's own code refuses all others. `declared`: none.
 */
type OtherMembers = 'written' | 'refused' | 'declared';

/**
 * The types that a value at a pointer can have, by the schema of the arguments. Includes every type that the schema might allow:
 * references and conditions are not followed and count as "any type". An empty result means that there can be no such value.
 */
export function typesAt(
  schema: JsonValue | undefined,
  steps: readonly PointerStep[],
  others: OtherMembers = 'written',
  depth = 0,
): JsonTypes {
  if (schema === false) return NONE;
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return ANY;
  // Each branch of an `allOf` declares only some of the members. A branch must not exclude members that another branch declares.
  const mode = Array.isArray(schema['allOf']) ? 'written' : others;
  const below = (part: JsonValue | undefined): JsonTypes => typesAt(part, steps, mode, depth + 1);
  const parts = [ownTypesAt(schema, steps, mode, depth)];
  for (const name of ['anyOf', 'oneOf']) {
    if (Array.isArray(schema[name])) parts.push(union(schema[name].map(below)));
  }
  if (Array.isArray(schema['allOf'])) parts.push(...schema['allOf'].map(below));
  return new Set(JSON_TYPES.filter((type) => parts.every((types) => types.has(type))));
}

function ownTypesAt(schema: JsonObject, steps: readonly PointerStep[], others: OtherMembers, depth: number): JsonTypes {
  const own = namedTypes(schema);
  const [step, ...rest] = steps;
  if (step === undefined) return own;
  const below = (part: JsonValue | undefined): JsonTypes => typesAt(part, rest, others, depth + 1);
  return union([
    ...(own.has('group') ? membersOf(schema, step, others).map(below) : []),
    ...(own.has('list') ? elementsOf(schema, step).map(below) : []),
  ]);
}

function namedTypes({ type, enum: values, const: value }: JsonObject): JsonTypes {
  if (value !== undefined) return new Set([typeOfJson(value)]);
  if (Array.isArray(values)) return new Set(values.map(typeOfJson));
  const names = Array.isArray(type) ? type : [type];
  const types = names.map((name) => (typeof name === 'string' ? BY_SCHEMA_NAME[name] : undefined));
  return types.every((known) => known !== undefined) ? new Set(types) : ANY;
}

/** The schemas that a member may have. Empty if the member cannot exist. */
function membersOf(schema: JsonObject, step: PointerStep, others: OtherMembers): (JsonValue | undefined)[] {
  const { properties, patternProperties, additionalProperties } = schema;
  const known = isJsonObject(properties) ? properties : {};
  if (step.kind === 'member' && Object.hasOwn(known, step.name)) return [known[step.name]];
  const named = step.kind === 'every' ? Object.values(known) : [];
  if (patternProperties !== undefined) return [...named, undefined];
  if (isJsonObject(properties) && others === 'refused' && additionalProperties === undefined) return named;
  if (Object.keys(known).length > 0 && others === 'declared') return named;
  return [...named, additionalProperties];
}

function elementsOf({ prefixItems, items }: JsonObject, step: PointerStep): (JsonValue | undefined)[] {
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  if (step.kind === 'every') return [...first, items];
  if (step.index < 0) return [];
  return [step.index < first.length ? first[step.index] : items];
}

function union(sets: readonly JsonTypes[]): JsonTypes {
  return new Set(sets.flatMap((types) => [...types]));
}
