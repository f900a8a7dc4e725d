import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/**
 * Max fields of a form. Forms are flat: MCP requires it, and a person fills them in. So this small checker is enough. A full JSON Schema
 * validator would have to be loaded into every tool's process.
 */
const MAX_FIELDS = 100;
const MAX_PROBLEMS = 5;

/** Why a schema is not a form; undefined if it is one. */
export function findFormFault(schema: JsonObject): string | undefined {
  const { type, properties } = schema;
  if (type !== 'object' || properties === undefined || !isJsonObject(properties)) return 'it is no schema of an object';
  const fields = Object.entries(properties);
  if (fields.length > MAX_FIELDS) return `it has more than ${MAX_FIELDS} fields`;
  const wrong = fields.find(([, field]) => !isJsonObject(field) || !isField(field));
  return wrong === undefined ? undefined : `"${wrong[0].slice(0, 60)}" is no text, number, flag or choice`;
}

function isField(field: JsonObject): boolean {
  const { type, items } = field;
  if (choicesOf(field) !== undefined) return true;
  if (type === 'array') return items !== undefined && isJsonObject(items) && choicesOf(items) !== undefined;
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean';
}

/** The values that may be chosen, whether written as `enum` or as `const`s with titles. */
function choicesOf({ enum: plain, oneOf, anyOf, const: only }: JsonObject): readonly JsonValue[] | undefined {
  if (Array.isArray(plain)) return plain;
  if (only !== undefined) return [only];
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : undefined;
  if (titled?.every((choice) => isJsonObject(choice) && choice['const'] !== undefined) !== true) return undefined;
  return titled.map((choice) => (choice as JsonObject)['const']!);
}

/** Returns at most five problems, each without the value. */
export function findFormProblems(schema: JsonObject, content: JsonObject): string[] {
  const properties = schema['properties'] as Readonly<Record<string, JsonObject>>;
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : [];
  const missing = required.filter((name) => !Object.hasOwn(content, name)).map((name) => `${name} is missing`);
  const wrong = Object.entries(content).flatMap(([name, value]): string[] => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined)
      return schema['additionalProperties'] === false ? [`${name.slice(0, 60)} is not asked for`] : [];
    const problem = findFieldProblem(field, value);
    return problem === undefined ? [] : [`${name} ${problem}`];
  });
  return [...missing, ...wrong].slice(0, MAX_PROBLEMS);
}

function findFieldProblem(field: JsonObject, value: JsonValue): string | undefined {
  const choices = choicesOf(field);
  if (choices !== undefined) return choices.includes(value) ? undefined : 'is none of the choices';
  switch (field['type']) {
    case 'array':
      return findListProblem(field, value);
    case 'string':
      return findTextProblem(field, value);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'is not true or false';
    default:
      return findNumberProblem(field, value);
  }
}

function findListProblem({ items, minItems, maxItems }: JsonObject, value: JsonValue): string | undefined {
  const choices = choicesOf(items as JsonObject)!;
  if (!Array.isArray(value) || !value.every((one) => choices.includes(one))) return 'is no list of choices';
  return isWithin(value.length, minItems, maxItems) ? undefined : 'has too many or too few of them';
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]{1,64}@[^\s@]{1,255}$/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]{0,63}:\S+$/,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d{2}:\d{2})$/,
};

/** A `pattern` is not checked here, because one could be made to run forever. The tool author's own schema checks it. */
function findTextProblem({ minLength, maxLength, format }: JsonObject, value: JsonValue): string | undefined {
  if (typeof value !== 'string') return 'is not a text';
  if (!isWithin(Array.from(value).length, minLength, maxLength)) return 'is too long or too short';
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return known?.test(value) === false ? `is no ${format as string}` : undefined;
}

function findNumberProblem({ type, minimum, maximum }: JsonObject, value: JsonValue): string | undefined {
  if (typeof value !== 'number' || (type === 'integer' && !Number.isInteger(value))) return `is no ${type as string}`;
  return isWithin(value, minimum, maximum) ? undefined : 'is too large or too small';
}

function isWithin(value: number, min: JsonValue | undefined, max: JsonValue | undefined): boolean {
  return !(typeof min === 'number' && value < min) && !(typeof max === 'number' && value > max);
}
