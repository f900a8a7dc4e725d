import { deriveJsonSchema } from '../modules/authoring/json-schema.ts';
import { isStandardSchema, parseWith, type StandardSchema } from '../modules/authoring/standard-schema.ts';
import { compileDefaults, type FillDefaults } from '../modules/catalog/fill-defaults.ts';
import { compileSchema } from '../modules/catalog/validate-arguments.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { andThen } from '../base/maybe-promise.ts';
import type { ParsedInput, ParseInput } from '../gate/wrap/guard-entry.ts';
import type { CheckOutput } from '../gate/wrap/review-result.ts';
import { canonicalJson } from '../base/canonical-json.ts';

/** Finds the input schema of a tool object, where the AI SDK, this package, Anthropic, OpenAI's responses and chat, and LangChain keep it. */
function schemaOf(tool: object): unknown {
  const { inputSchema, input, input_schema, parameters, schema, function: inner } = tool as Record<string, unknown>;
  const ofFunction = isJsonObject(inner) ? inner['parameters'] : undefined;
  return [inputSchema, input, input_schema, parameters, ofFunction, schema].find((found) => found !== undefined);
}

const NOTHING_FITS: ParseInput = () => ({ ok: false, problems: ['the schema of this tool cannot be used'] });

/**
 * Parses arguments as the tool's own schema does, defaults included. The schema is compiled at the first use, because the arguments of most
 * tools are never rewritten. A tool without a schema accepts any arguments. A tool whose schema cannot be used accepts none.
 */
export function parserOf(tool: object): ParseInput {
  let parse: ParseInput | undefined;
  return (value) => {
    parse ??= compileSafely(schemaOf(tool));
    return parse(value);
  };
}

/**
 * Fills in the defaults that the tool's JSON Schema declares. Fills in none if code may transform the arguments before the tool runs. The
 * defaults belong to the arguments that were sent: next to transformed ones, a default could make a rule allow the call (`dryRun: true`
 * next to `mode: 'apply'`).
 */
export function defaultsOf(tool: object): FillDefaults {
  let fill: FillDefaults | undefined;
  return (value) => {
    fill ??= compileDefaultsSafely(tool);
    return fill(value);
  };
}

/** Finds the output schema of a tool object, where the AI SDK and MCP, and this package, keep it. */
function outputSchemaOf(tool: object): unknown {
  const { outputSchema, output } = tool as Record<string, unknown>;
  return outputSchema ?? (typeof output === 'object' ? (output ?? undefined) : undefined);
}

/** Checks what a result hook wrote against the tool's own output schema. Without a schema every result is valid. */
export function outputOf(tool: object): CheckOutput {
  let parse: ParseInput | undefined;
  return (value) => {
    parse ??= compileSafely(outputSchemaOf(tool));
    return andThen(parse(value as JsonObject), (parsed) => (parsed.ok ? [] : parsed.problems));
  };
}

const UNFILLED: FillDefaults = (value) => value;

function compileDefaultsSafely(tool: object): FillDefaults {
  try {
    const schema = hasOwnParser(tool) ? undefined : runSchemaOf(schemaOf(tool));
    return (schema === undefined ? undefined : compileDefaults(schema)) ?? UNFILLED;
  } catch {
    return UNFILLED;
  }
}

/** Whether the tool object has its own code that parses the arguments. Anthropic's and OpenAI's helpers for zod add such code to the tool. */
function hasOwnParser(tool: object): boolean {
  const { parse, $parseRaw, function: inner } = tool as Record<string, unknown>;
  const ofFunction = isJsonObject(inner) ? inner['parse'] : undefined;
  return [parse, $parseRaw, ofFunction].some((parser) => typeof parser === 'function' && parser !== JSON.parse);
}

/**
 * The JSON Schema of the arguments with which the tool runs; undefined if it may differ from the schema of the arguments that were sent.
 */
function runSchemaOf(schema: unknown): JsonObject | undefined {
  if (isStandardSchema(schema)) {
    const sent = deriveJsonSchema(schema);
    const isOurs = schema['~standard'].vendor === 'sallyport';
    return isOurs || isSameShape(sent, deriveJsonSchema(schema, 'output')) ? sent : undefined;
  }
  if (!isJsonObject(schema)) return undefined;
  const { validate, jsonSchema } = schema as { validate?: unknown; jsonSchema?: unknown };
  if (typeof validate === 'function') return undefined;
  return deriveJsonSchema(isJsonObject(jsonSchema) ? jsonSchema : schema);
}

/**
 * Compares two schemas without their `required` lists and `additionalProperties: false`. A default makes a member required in the output, and
 * unknown members are stripped from it; neither changes the other members.
 */
function isSameShape(sent: JsonObject, output: JsonObject): boolean {
  return shapeOf(sent) === shapeOf(output);
}

function shapeOf(schema: JsonObject): string {
  return canonicalJson(
    JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
      const isStrictness =
        (key === 'required' && Array.isArray(value)) || (key === 'additionalProperties' && value === false);
      return isStrictness ? undefined : value;
    }),
  );
}

function compileSafely(schema: unknown): ParseInput {
  try {
    return compile(schema);
  } catch {
    return NOTHING_FITS;
  }
}

function compile(schema: unknown): ParseInput {
  if (schema === undefined) return (value) => ({ ok: true, value });
  if (isStandardSchema(schema)) return compileStandard(schema);
  // `lazySchema` of the AI SDK is a function that returns the schema.
  if (typeof schema === 'function') return compile((schema as () => unknown)());
  if (!isJsonObject(schema)) return NOTHING_FITS;
  const { validate, jsonSchema } = schema as { validate?: unknown; jsonSchema?: unknown };
  if (typeof validate === 'function') return compileAiSdk(validate as AiSdkValidate);
  return compileJson(isJsonObject(jsonSchema) ? jsonSchema : schema);
}

function compileStandard(schema: StandardSchema): ParseInput {
  // `jsonSchema()` of this package contains no code that checks values, so its JSON Schema is compiled here.
  if (schema['~standard'].vendor === 'sallyport') return compileJson(deriveJsonSchema(schema));
  return async (value): Promise<ParsedInput> => {
    const parsed = await parseWith(schema, value);
    return parsed.kind === 'parsed' ? { ok: true, value: parsed.value } : { ok: false, problems: parsed.problems };
  };
}

function compileJson(schema: JsonObject): ParseInput {
  const problemsOf = compileSchema(schema);
  return (value) => {
    const problems = problemsOf(value);
    return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
  };
}

type AiSdkValidate = (value: unknown) => PromiseLike<AiSdkResult> | AiSdkResult;
type AiSdkResult =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: unknown };

function compileAiSdk(validate: AiSdkValidate): ParseInput {
  return async (value): Promise<ParsedInput> => {
    const result = await validate(value);
    return result.success ? { ok: true, value: result.value } : { ok: false, problems: describe(result.error) };
  };
}

/**
 * Describes an error of the AI SDK by its issues. The message of the error quotes the
 * value, which may contain a secret that a hook put there; the issues do not.
 */
function describe(error: unknown): string[] {
  const { cause, issues } = (error ?? {}) as { cause?: unknown; issues?: unknown };
  const list = [issues, (cause as { issues?: unknown } | undefined)?.issues, cause].find(Array.isArray) as
    | readonly { path?: unknown; message?: unknown }[]
    | undefined;
  if (list === undefined || list.length === 0) return ['they do not match the schema of the tool'];
  return list.slice(0, 5).map(({ path, message }) => {
    const place = Array.isArray(path) ? path.map(String).join('.') : '';
    return `${place === '' ? '' : `${place}: `}${String(message).slice(0, 200)}`;
  });
}
