import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { compileLinearPattern, isLinearPattern } from './linear-pattern.ts';
import { resolveLocalReference } from './schema-walk.ts';
import { compileSchema, type Validate } from './validate-arguments.ts';

/** Returns the same object if nothing is missing; otherwise a copy with the defaults filled in. */
export type FillDefaults = (value: JsonObject) => JsonObject;

/**
 * Max steps for one value: a small schema can have references that multiply without end. Parts of the value that are not reached within the
 * limit stay as they were sent.
 */
const MAX_STEPS = 100_000;
const MAX_DEPTH = 256;
const NO_ANCHORS: ReadonlyMap<string, JsonObject> = new Map();

/**
 * Fills in the defaults of a JSON Schema: those of `properties`, also below `items`, `prefixItems`, `additionalProperties`, `allOf` and
 * `$ref`, and then those of the first branch of `anyOf` or `oneOf` that the value fits. Conditions (`if`, `dependentSchemas`) and the
 * schemas behind patterns are ignored. Undefined: the schema has no defaults.
 */
export function compileDefaults(root: JsonObject): FillDefaults | undefined {
  if (!JSON.stringify(root).includes('"default"')) return undefined;
  const branches = new Map<JsonObject, Validate>();
  let stepsLeft = 0;
  let depth = 0;

  function fill(schema: JsonValue | undefined, value: JsonValue): JsonValue {
    stepsLeft -= 1;
    if (!isJsonObject(schema) || stepsLeft < 0 || depth >= MAX_DEPTH) return value;
    depth += 1;
    const filled = fillBy(schema, value);
    depth -= 1;
    return filled;
  }

  function fillBy(schema: JsonObject, value: JsonValue): JsonValue {
    // Members are filled before a branch is chosen. A default of a neighbouring member can decide which branch fits, and filling a value a
    // second time must choose the same branch.
    let filled = fillOwn(schema, value);
    const target = referenceOf(schema);
    if (target !== undefined) filled = fill(target, filled);
    for (const part of listOf(schema['allOf'])) filled = fill(part, filled);
    for (const list of [listOf(schema['anyOf']), listOf(schema['oneOf'])]) {
      const branch = list.find((one) => isJsonObject(one) && fits(one, filled));
      if (branch !== undefined) filled = fill(branch, filled);
    }
    return filled;
  }

  function fillOwn(schema: JsonObject, value: JsonValue): JsonValue {
    if (Array.isArray(value)) return fillItems(schema, value);
    return isJsonObject(value) ? fillMembers(schema, value) : value;
  }

  function fillMembers(schema: JsonObject, value: JsonObject): JsonObject {
    let filled = value;
    const set = (name: string, member: JsonValue): void => {
      filled = { ...filled, [name]: member };
    };
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    for (const [name, about] of Object.entries(properties)) {
      const isThere = Object.hasOwn(filled, name);
      const given = isThere ? filled[name] : defaultOf(about);
      if (given === undefined) continue;
      const member = fill(about, isThere ? given : structuredClone(given));
      if (!isThere || member !== given) set(name, member);
    }
    const others = schema['additionalProperties'];
    if (!isJsonObject(others)) return filled;
    const isKnown = (name: string): boolean => Object.hasOwn(properties, name) || hasPattern(schema, name);
    for (const [name, given] of Object.entries(value)) {
      const member = isKnown(name) ? given : fill(others, given);
      if (member !== given) set(name, member);
    }
    return filled;
  }

  /**
   * Whether `patternProperties` has a pattern for the name. If a pattern cannot be compiled, the answer is true, so that no default is
   * added: a missing default is detected later, when the tool's own schema adds it, but a wrong one is not.
   */
  function hasPattern({ patternProperties }: JsonObject, name: string): boolean {
    if (!isJsonObject(patternProperties)) return false;
    return Object.keys(patternProperties).some(
      (source) => !isLinearPattern(source) || compileLinearPattern(source).test(name),
    );
  }

  function fillItems(schema: JsonObject, value: JsonValue[]): JsonValue[] {
    const first = listOf(schema['prefixItems'] ?? schema['items']);
    const rest = Array.isArray(schema['items']) ? schema['additionalItems'] : schema['items'];
    const filled = value.map((item, index) => fill(index < first.length ? first[index] : rest, item));
    return filled.some((item, index) => item !== value[index]) ? filled : value;
  }

  function defaultOf(schema: JsonValue): JsonValue | undefined {
    let next: JsonValue | undefined = schema;
    for (let hops = 0; isJsonObject(next) && hops < 32; hops += 1) {
      if (Object.hasOwn(next, 'default')) return next['default'];
      next = referenceOf(next);
    }
    return undefined;
  }

  function referenceOf({ $ref }: JsonObject): JsonValue | undefined {
    return typeof $ref === 'string' ? resolveLocalReference(root, $ref, NO_ANCHORS) : undefined;
  }

  /**
   * Whether the value fits a branch. A branch that cannot be compiled by itself does not fit, so its defaults are not added. If the tool's
   * own schema adds them, that is detected later.
   */
  function fits(branch: JsonObject, value: JsonValue): boolean {
    let validate = branches.get(branch);
    if (validate === undefined) {
      validate = compileBranch(root, branch);
      branches.set(branch, validate);
    }
    return validate(value).length === 0;
  }

  return (value) => {
    stepsLeft = MAX_STEPS;
    depth = 0;
    return fill(root, value) as JsonObject;
  };
}

function compileBranch({ $schema, $defs, definitions }: JsonObject, branch: JsonObject): Validate {
  try {
    const shared = { ...($schema === undefined ? {} : { $schema }), ...($defs === undefined ? {} : { $defs }) };
    return compileSchema({ ...shared, ...(definitions === undefined ? {} : { definitions }), allOf: [branch] });
  } catch {
    return () => ['it cannot be checked'];
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
