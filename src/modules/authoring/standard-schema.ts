import type { MaybePromise } from '../../base/maybe-promise.ts';

/** The parts of Standard Schema (standardschema.dev) that a module may use; zod, Valibot, ArkType and others have them. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema. zod before 4.2 lacks it; schemas of these versions are converted with zod's own function. */
    readonly jsonSchema?: SchemaConverter | undefined;
  };
}

export interface SchemaConverter {
  readonly input: (options: { readonly target: string }) => Record<string, unknown>;
  readonly output: (options: { readonly target: string }) => Record<string, unknown>;
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Whether a value is a Standard Schema. ArkType's schemas are functions, so functions are accepted too. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as { '~standard'?: unknown })['~standard'];
  return (
    typeof standard === 'object' &&
    standard !== null &&
    typeof (standard as { validate?: unknown }).validate === 'function'
  );
}

/**
 * Whether parsing removes members that the published schema neither declares nor explicitly allows. zod's objects do, and zod writes
 * `additionalProperties` for the objects that keep such members. The runner refuses arguments that parsing changed, and a tool with
 * `normalises` does not get removed members.
 */
export function removesUndeclared(schema: unknown): boolean {
  return isStandardSchema(schema) && schema['~standard'].vendor === 'zod';
}

const MAX_ISSUES = 5;

export type Parsed =
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'issues'; readonly problems: string[] };

/**
 * Parses a value with the schema's own code, so that defaults and transforms apply. A plain JSON Schema has no such code: the value stays
 * as it is.
 */
export function parseWith(schema: unknown, value: unknown): MaybePromise<Parsed> {
  if (!isStandardSchema(schema)) return { kind: 'parsed', value };
  const result = schema['~standard'].validate(value);
  // Any object with `then` counts as a promise, not only native ones. If such an object were read as a result, it would have no issues and
  // every value would pass.
  return 'then' in result ? Promise.resolve(result).then(toParsed) : toParsed(result);
}

function toParsed(result: SchemaResult<unknown>): Parsed {
  if (result.issues === undefined) return { kind: 'parsed', value: result.value };
  return { kind: 'issues', problems: result.issues.slice(0, MAX_ISSUES).map(describeIssue) };
}

function describeIssue(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
  return `${path === '' ? '' : `${path}: `}${String(issue.message)}`.slice(0, 300);
}
