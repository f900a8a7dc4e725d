import type { JsonValue } from './json.ts';

/** One member of an object, or one element of a list. */
export interface MemberStep {
  readonly kind: 'member';
  readonly name: string;
  /** The element that the step names in a list; -1 if the name is not an index. */
  readonly index: number;
}

/** Every element of a list, or every member of an object. */
export interface EveryStep {
  readonly kind: 'every';
}

export type PointerStep = MemberStep | EveryStep;

export interface PointerOptions {
  /** Whether a step `*` means every element or member. Otherwise `*` is a name like any other, as RFC 6901 has it. */
  readonly every: boolean;
}

/** No leading zeros (RFC 6901). Nine digits, because no list has more elements. */
const INDEX = /^(?:0|[1-9]\d{0,8})$/;
const WRONG_ESCAPE = /~(?![01])/;
const EVERY: EveryStep = Object.freeze({ kind: 'every' });

/** Escapes one name for a JSON pointer (RFC 6901). */
export function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The steps of a JSON pointer (RFC 6901); none for the whole value. Undefined if the text is not a pointer. */
export function parsePointer(text: string): readonly MemberStep[] | undefined;
export function parsePointer(text: string, options: PointerOptions): readonly PointerStep[] | undefined;
export function parsePointer(text: string, options?: PointerOptions): readonly PointerStep[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || WRONG_ESCAPE.test(text)) return undefined;
  const steps = text.slice(1).split('/');
  return steps.map((step) => (step === '*' && options?.every === true ? EVERY : memberStep(unescapeStep(step))));
}

function memberStep(name: string): MemberStep {
  return { kind: 'member', name, index: INDEX.test(name) ? Number(name) : -1 };
}

/** Reads the value at a pointer; undefined if there is none. Inherited members are not read. */
export function readPointer(value: JsonValue, steps: readonly MemberStep[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const { name, index } of steps) {
    if (typeof found !== 'object' || found === null) return undefined;
    if (Array.isArray(found)) found = index < 0 ? undefined : found[index];
    else found = Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

/**
 * Reads the part of a schema that a reference in it, such as `#` or `#/$defs/name`, leads to. Steps are decoded as Ajv decodes them, so
 * that checks, defaults and masks of a tool's arguments all use the same part of its schema.
 */
export function readReference(schema: JsonValue, reference: string): JsonValue | undefined {
  if (reference === '#') return schema;
  if (!reference.startsWith('#/')) return undefined;
  try {
    const steps = reference.slice(2).split('/');
    return readPointer(
      schema,
      steps.map((step) => memberStep(unescapeStep(decodeURIComponent(step)))),
    );
  } catch {
    // The reference has a percent sign that does not begin an escape.
    return undefined;
  }
}
