import { LIMITS } from './call.ts';
import { isExactNumber, keyProblem } from '../../base/json-rules.ts';
import { hasLoneSurrogate } from '../../base/well-formed.ts';

/**
 * Accepted arguments. `canonical` is RFC 8785 and was written while the value was checked. Each member is read only once, so what was
 * checked is what is sent.
 */
export interface WrittenArguments {
  readonly ok: true;
  readonly canonical: string;
  /** True if every character is one byte. */
  readonly isAscii: boolean;
}

export type CheckedArguments =
  | WrittenArguments
  | {
      readonly ok: false;
      readonly code: 'ARGUMENTS_TOO_LARGE';
      readonly facts: { readonly what: string; readonly is: number; readonly limit: number };
    }
  | { readonly ok: false; readonly code: 'ENVELOPE_INVALID'; readonly facts: { readonly problem: string } };

type Refusal = Exclude<CheckedArguments, { ok: true }>;

/**
 * Checks arguments given as a JavaScript value and writes them as canonical JSON, in one walk. The value must be a plain object of JSON
 * values. Members that are `undefined` count as absent; in arrays `undefined` is refused, as is everything that JSON would drop or rewrite:
 * functions, symbols, BigInt, NaN, dates, maps, class instances, half surrogates, inexact integers. NUL characters are refused in values
 * too: send bytes as base64.
 */
export function checkArguments(value: unknown): CheckedArguments {
  if (!isPlainObject(value)) return invalid('the arguments must be a plain object');
  const walk = new Walk();
  const canonical = walk.object(value, 1);
  if (canonical === undefined) return walk.explain(value);
  const { isAscii } = walk;
  const bytes = canonical.length > LIMITS.argumentsBytes / 3 ? Buffer.byteLength(canonical) : canonical.length;
  if (bytes > LIMITS.argumentsBytes) return tooLarge('bytes', bytes, LIMITS.argumentsBytes);
  return { ok: true, canonical, isAscii };
}

/** Printable ASCII without quote and backslash: JSON writes it unchanged. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;
const ASCII = /^[\0-\x7f]*$/;
/** Text beyond this is certainly too long and ends the walk early; below it, the exact number of bytes is reported. */
const HOPELESS_CHARACTERS = LIMITS.argumentsBytes * 8;
const SHOWN_SEGMENTS = 8;

class Walk {
  #refusal: Refusal | undefined;
  #keys = 0;
  #items = 0;
  #characters = 0;
  /** Path to the refused value, filled from the inside out while the refusal is returned. */
  #path: (string | number)[] | undefined;
  isAscii = true;

  object(object: Record<string, unknown>, depth: number): string | undefined {
    if (depth > LIMITS.argumentsDepth) return this.#tooDeep();
    const names = Object.keys(object);
    sortNames(names);
    let written = '{';
    for (const name of names) {
      const member = object[name];
      if (member === undefined) continue;
      this.#keys += 1;
      if (this.#keys > LIMITS.argumentsKeys) return this.#tooMany('keys', this.#keys, LIMITS.argumentsKeys);
      const key = this.#key(name);
      if (key === undefined) return undefined;
      const text = this.#value(member, depth);
      if (text === undefined) return this.#within(name);
      written += written.length === 1 ? `${key}:${text}` : `,${key}:${text}`;
    }
    return `${written}}`;
  }

  #array(array: readonly unknown[], depth: number): string | undefined {
    if (depth > LIMITS.argumentsDepth) return this.#tooDeep();
    this.#items += array.length;
    if (this.#items > LIMITS.argumentsItems) return this.#tooMany('array items', this.#items, LIMITS.argumentsItems);
    let written = '[';
    for (let index = 0; index < array.length; index += 1) {
      const text = this.#value(array[index], depth);
      if (text === undefined) return this.#within(index);
      written += index === 0 ? text : `,${text}`;
    }
    return `${written}]`;
  }

  #value(value: unknown, depth: number): string | undefined {
    switch (typeof value) {
      case 'string':
        return this.#string(value);
      case 'number':
        // -0 is written as 0.
        return isExactNumber(value) ? String(value) : this.#refuse(numberProblem(value));
      case 'boolean':
        return value ? 'true' : 'false';
      case 'object':
        if (value === null) return 'null';
        if (Array.isArray(value)) return this.#array(value, depth + 1);
        if (isPlainObject(value)) return this.object(value, depth + 1);
        return this.#refuse(`is not a plain object (${constructorName(value)})`);
      default:
        return this.#refuse(`is not a JSON value (${typeof value})`);
    }
  }

  #string(text: string): string | undefined {
    this.#characters += text.length;
    if (this.#characters > HOPELESS_CHARACTERS) return this.#tooMany('bytes', this.#characters, LIMITS.argumentsBytes);
    if (PLAIN_TEXT.test(text)) return `"${text}"`;
    if (hasLoneSurrogate(text)) return this.#refuse('has half of a surrogate pair');
    if (text.includes('\0')) return this.#refuse('has a NUL character');
    return this.#escaped(text);
  }

  #key(name: string): string | undefined {
    const problem = keyProblem(name);
    if (problem !== undefined) return this.#refuse(`cannot be sent: ${problem}`);
    this.#characters += name.length;
    return PLAIN_TEXT.test(name) ? `"${name}"` : this.#escaped(name);
  }

  #escaped(text: string): string {
    if (!ASCII.test(text)) this.isAscii = false;
    return JSON.stringify(text);
  }

  #refuse(problem: string): undefined {
    this.#refusal = invalid(problem);
    return undefined;
  }

  #tooMany(what: string, is: number, limit: number): undefined {
    this.#refusal = tooLarge(what, is, limit);
    return undefined;
  }

  /**
   * Refuses a value that is nested too deep. A value that contains itself ends here too, so no separate check for cycles is needed while
   * writing.
   */
  #tooDeep(): undefined {
    return this.#tooMany('levels', LIMITS.argumentsDepth + 1, LIMITS.argumentsDepth);
  }

  #within(segment: string | number): undefined {
    this.#path ??= [];
    this.#path.push(segment);
    return undefined;
  }

  explain(root: unknown): Refusal {
    const refusal = this.#refusal!;
    const path = (this.#path ?? []).toReversed();
    if (refusal.code === 'ENVELOPE_INVALID') return invalid(`${showPath(path)} ${refusal.facts.problem}`);
    return refusal.facts.what === 'levels' && repeats(root, path)
      ? invalid('the arguments contain themselves')
      : refusal;
  }
}

/**
 * Sorts the names unless they are already in order. In most objects they are, and a needless sort costs more than the serialisation of the
 * object.
 */
function sortNames(names: string[]): void {
  for (let index = 1; index < names.length; index += 1) {
    if (names[index - 1]! > names[index]!) return void names.sort();
  }
}

/** Names the place, never the value. Keys come from the caller, so they are cut and escaped. */
function showPath(path: readonly (string | number)[]): string {
  const shown = path.slice(0, SHOWN_SEGMENTS).map((segment) => {
    if (typeof segment === 'number') return `[${segment}]`;
    return /^[\w-]{1,40}$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment.slice(0, 40))}]`;
  });
  return `arguments${shown.join('')}${path.length > SHOWN_SEGMENTS ? '…' : ''}`;
}

function repeats(root: unknown, path: readonly (string | number)[]): boolean {
  const seen = new Set([root]);
  let value = root;
  for (const segment of path) {
    value = (value as Record<string | number, unknown>)[segment];
    if (seen.has(value)) return true;
    seen.add(value);
  }
  return false;
}

/** Plain objects of any realm: made by a literal, by JSON.parse, or without a prototype. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype === Object.prototype || prototype === null) return true;
  return (
    Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf') && !Array.isArray(value)
  );
}

function constructorName(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return tag === 'Object' ? 'a class instance' : tag.slice(0, 40);
}

function numberProblem(value: number): string {
  return Number.isFinite(value)
    ? 'is a number that cannot be kept exactly; send it as a string'
    : 'is not a finite number';
}

function tooLarge(what: string, is: number, limit: number): Refusal {
  return { ok: false, code: 'ARGUMENTS_TOO_LARGE', facts: { what, is, limit } };
}

function invalid(problem: string): Refusal {
  return { ok: false, code: 'ENVELOPE_INVALID', facts: { problem } };
}
