import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { JsonObject } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { compileLinearPattern, isLinearPattern } from './linear-pattern.ts';
import { mapSchemas } from './schema-walk.ts';

const DIALECTS = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'http://json-schema.org/draft-07/schema': 'draft-07',
} as const;
type Dialect = (typeof DIALECTS)[keyof typeof DIALECTS];

export interface SchemaValidator {
  /** Checks a schema against the dialect's own schema. Returns the first fault. */
  findFault(schema: JsonObject): string | undefined;
  /** Compiles a schema. `all`: find every problem, not only the first. Compiled code is not cached here. */
  compile(schema: JsonObject, all: boolean): (value: unknown) => readonly ErrorObject[];
}

/** The validator for a schema's `$schema`; 2020-12 without one. Undefined for unknown dialects. */
export function schemaValidatorFor(schema: JsonObject): SchemaValidator | undefined {
  const named = schema['$schema'];
  if (named === undefined) return validatorOf('2020-12');
  const uri = typeof named === 'string' ? named.replace(/#$/, '') : '';
  return Object.hasOwn(DIALECTS, uri) ? validatorOf(DIALECTS[uri as keyof typeof DIALECTS]) : undefined;
}

const STEP = 'sallyport:step';
/** Max steps of one validation; following a reference costs one step. A small schema can have references that multiply without end. */
const MAX_STEPS = 200_000;
/**
 * Remaining steps of the running validation; reset before each one. It is at module level because compiled validators are synchronous and
 * take no extra argument.
 */
let stepsLeft = 0;

class OutOfSteps extends Error {}

const linearEngine = Object.assign((source: string) => compileLinearPattern(source), { code: 'compileLinearPattern' });

const OPTIONS: Options = {
  // Unknown keywords and formats are ignored like annotations, because the schemas of tool authors contain many of them.
  strict: false,
  logger: false,
  coerceTypes: false,
  useDefaults: false,
  ownProperties: true,
  inlineRefs: false,
  addUsedSchema: false,
  validateSchema: false,
  code: { regExp: linearEngine },
};

function createAjv(dialect: Dialect, all: boolean): Ajv {
  const options = { ...OPTIONS, allErrors: all };
  const ajv = dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options);
  ajvFormats.default(ajv);
  // The `url` pattern of ajv-formats takes quadratic time (0.7 s for 30,000 characters).
  ajv.addFormat('url', ajv.formats['uri']!);
  ajv.addKeyword({
    keyword: STEP,
    before: '$ref',
    errors: false,
    validate: () => {
      stepsLeft -= 1;
      if (stepsLeft < 0) throw new OutOfSteps();
      return true;
    },
  });
  // Ajv's own implementation compares each item with every other item: 100,000 items would block the process for minutes.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have the same item twice' },
    validate: (wanted: boolean, items: readonly unknown[]) =>
      !wanted || new Set(items.map((item) => canonicalJson(item))).size === items.length,
  });
  return ajv as Ajv;
}

/**
 * Max schemas that one Ajv instance compiles. An instance keeps a part of everything it compiled in memory, so it is replaced after a
 * while.
 */
const COMPILES_PER_INSTANCE = 1_000;

interface Instance {
  readonly ajv: Ajv;
  compiles: number;
}
/** At most two per dialect: one that stops at the first problem and one that finds all. */
const instances = new Map<string, Instance>();

function instanceOf(dialect: Dialect, all: boolean): Instance {
  const key = `${dialect} ${all}`;
  const known = instances.get(key);
  if (known !== undefined && known.compiles < COMPILES_PER_INSTANCE) return known;
  const instance = { ajv: createAjv(dialect, all), compiles: 0 };
  instances.set(key, instance);
  return instance;
}

function validatorOf(dialect: Dialect): SchemaValidator {
  return {
    findFault(schema) {
      const { ajv } = instanceOf(dialect, false);
      stepsLeft = MAX_STEPS;
      const { $schema: _dialect, ...rest } = schema;
      if (ajv.validateSchema(rest) === true) return undefined;
      const [first] = ajv.errors ?? [];
      return `${first?.instancePath.slice(0, 80) || 'its root'} ${first?.message ?? 'is no JSON Schema'}`;
    },
    compile(schema, all) {
      const instance = instanceOf(dialect, all);
      instance.compiles += 1;
      const prepared = prepare(schema);
      const validate = instance.ajv.compile(prepared);
      instance.ajv.removeSchema(prepared);
      return (value) => run(validate, value);
    },
  };
}

function run(validate: ValidateFunction, value: unknown): readonly ErrorObject[] {
  stepsLeft = MAX_STEPS;
  try {
    return validate(value) ? [] : [...(validate.errors ?? [])];
  } catch (error) {
    // The validation ran out of steps or of stack. The value is too deep or follows too many references, so this is reported as a problem
    // of the value and not thrown.
    if (error instanceof OutOfSteps || error instanceof RangeError) return [TOO_COMPLEX];
    throw error;
  } finally {
    validate.errors = null;
  }
}

const TOO_COMPLEX: ErrorObject = Object.freeze({
  keyword: STEP,
  instancePath: '',
  schemaPath: '',
  params: {},
  message: 'is too complex to be checked',
});

/** The same `$id` replaces the `$id` of every schema. The authors' own ids could collide, and without an `$id` Ajv does not resolve `#`. */
const OWN_ID = 'sallyport:schema';

/**
 * Returns a copy of a schema with the same meaning and bounded work. Following a reference costs a step. A pattern that needs a
 * backtracking engine is removed if a format next to it is checked.
 */
function prepare(schema: JsonObject): JsonObject {
  const prepared = mapSchemas(schema, (node) => {
    const copy = { ...node };
    if (Object.hasOwn(copy, '$ref') || Object.hasOwn(copy, '$dynamicRef')) copy[STEP] = true;
    const { pattern } = copy;
    if (typeof pattern === 'string' && copy['format'] !== undefined && !isLinearPattern(pattern))
      delete copy['pattern'];
    return copy;
  });
  delete prepared['$schema'];
  prepared['$id'] = OWN_ID;
  return prepared;
}
