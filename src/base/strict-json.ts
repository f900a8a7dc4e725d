import type { JsonObject, JsonValue } from './json.ts';
import { isExactNumber, keyProblem } from './json-rules.ts';
import { hasLoneSurrogate } from './well-formed.ts';

export interface JsonLimits {
  readonly bytes: number;
  readonly depth: number;
  /** Max keys of all objects together. */
  readonly keys: number;
  /** Max items of all arrays together. */
  readonly items: number;
}

export const JSON_LIMITS: JsonLimits = Object.freeze({
  bytes: 1024 * 1024,
  depth: 64,
  keys: 10_000,
  items: 100_000,
});

export interface JsonProblem {
  /** `syntax`: not JSON. `shape`: a refused key. `value`: JSON, but it cannot be kept exactly. `size`, `depth`: a limit was exceeded. */
  readonly kind: 'syntax' | 'shape' | 'value' | 'size' | 'depth';
  /** Never quotes a value. */
  readonly problem: string;
  /** In UTF-16 units. */
  readonly position?: number;
}

export type ParsedJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: JsonProblem };

/**
 * Parses JSON strictly: accepted text means the same to every reader and is never repaired. Duplicate keys, byte order marks, broken UTF-8,
 * half surrogates and inexact integers are refused. Linear time; nesting is limited while parsing.
 */
export function parseStrictJson(input: string | Uint8Array, limits: JsonLimits = JSON_LIMITS): ParsedJson {
  const bytes = typeof input === 'string' ? input.length : input.byteLength;
  if (bytes > limits.bytes) return tooManyBytes(bytes, limits);
  let text: string;
  if (typeof input === 'string') {
    text = input;
    const encoded = Buffer.byteLength(text);
    if (encoded > limits.bytes) return tooManyBytes(encoded, limits);
  } else {
    try {
      text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input);
    } catch {
      return { ok: false, error: { kind: 'syntax', problem: 'it is not UTF-8' } };
    }
  }
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) {
    return { ok: false, error: { kind: 'syntax', problem: 'it starts with a byte order mark', position: 0 } };
  }
  return new Reader(text, limits).read();
}

function tooManyBytes(is: number, limits: JsonLimits): ParsedJson {
  return { ok: false, error: { kind: 'size', problem: `it has ${is} bytes, the limit is ${limits.bytes}` } };
}

const BYTE_ORDER_MARK = 0xfeff;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const LETTERS_FROM = 0x61;

/** Thrown and caught in this file only. */
class Refused extends Error {
  readonly reason: JsonProblem;
  constructor(reason: JsonProblem) {
    super(reason.problem);
    this.reason = reason;
  }
}

/** Printable ASCII without quote and backslash: needs no decoding. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

class Reader {
  readonly #text: string;
  readonly #limits: JsonLimits;
  #at = 0;
  #keys = 0;
  #items = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  read(): ParsedJson {
    try {
      this.#skipSpace();
      if (this.#at === this.#text.length) this.#refuse('syntax', 'it is empty');
      const value = this.#value(0);
      this.#skipSpace();
      if (this.#at < this.#text.length) this.#refuse('syntax', 'something follows after the end of the value');
      return { ok: true, value };
    } catch (error) {
      if (error instanceof Refused) return { ok: false, error: error.reason };
      throw error;
    }
  }

  #refuse(kind: JsonProblem['kind'], problem: string, position = this.#at): never {
    throw new Refused({ kind, problem, position });
  }

  #unexpected(expected: string): never {
    const end = this.#at >= this.#text.length;
    return this.#refuse('syntax', end ? `it ends where ${expected} is expected` : `${expected} is expected`);
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#at += 1;
    }
  }

  #value(depth: number): JsonValue {
    switch (this.#text.charCodeAt(this.#at)) {
      case OPEN_OBJECT:
        return this.#object(depth + 1);
      case OPEN_ARRAY:
        return this.#array(depth + 1);
      case QUOTE:
        return this.#string();
      default:
        return this.#numberOrWord();
    }
  }

  #enter(depth: number): void {
    if (depth > this.#limits.depth) this.#refuse('depth', `it is nested deeper than ${this.#limits.depth} levels`);
    this.#at += 1;
    this.#skipSpace();
  }

  #object(depth: number): JsonObject {
    this.#enter(depth);
    const object: JsonObject = {};
    if (this.#text.charCodeAt(this.#at) === CLOSE_OBJECT) {
      this.#at += 1;
      return object;
    }
    for (;;) {
      const keyAt = this.#at;
      if (this.#text.charCodeAt(this.#at) !== QUOTE) this.#unexpected('a key in double quotes');
      const key = this.#string();
      const problem = Object.hasOwn(object, key) ? 'a key is there twice' : keyProblem(key);
      if (problem !== undefined) this.#refuse('shape', problem, keyAt);
      this.#keys += 1;
      if (this.#keys > this.#limits.keys) {
        this.#refuse('size', `it has more than ${this.#limits.keys} keys`, keyAt);
      }
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#at) !== COLON) this.#unexpected('":"');
      this.#at += 1;
      this.#skipSpace();
      object[key] = this.#value(depth);
      if (this.#endOfList(CLOSE_OBJECT)) return object;
    }
  }

  #array(depth: number): JsonValue[] {
    this.#enter(depth);
    const array: JsonValue[] = [];
    if (this.#text.charCodeAt(this.#at) === CLOSE_ARRAY) {
      this.#at += 1;
      return array;
    }
    for (;;) {
      this.#items += 1;
      if (this.#items > this.#limits.items) {
        this.#refuse('size', `it has more than ${this.#limits.items} array items`);
      }
      array.push(this.#value(depth));
      if (this.#endOfList(CLOSE_ARRAY)) return array;
    }
  }

  /** After a member: true at the closing bracket, false after a comma. */
  #endOfList(close: number): boolean {
    this.#skipSpace();
    const code = this.#text.charCodeAt(this.#at);
    if (code !== close && code !== COMMA) this.#unexpected(`"," or "${String.fromCharCode(close)}"`);
    this.#at += 1;
    if (code === COMMA) this.#skipSpace();
    return code === close;
  }

  #string(): string {
    const start = this.#at;
    // Most strings are plain, and two native searches detect that in a fraction of the time of the loop below.
    const plain = this.#text.slice(start + 1, this.#text.indexOf('"', start + 1));
    if (PLAIN_TEXT.test(plain) && this.#text.charCodeAt(start + 1 + plain.length) === QUOTE) {
      this.#at = start + plain.length + 2;
      return plain;
    }
    let escaped = false;
    for (let at = start + 1; ; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return this.#decoded(start, escaped);
      }
      if (code === BACKSLASH) {
        escaped = true;
        at += 1;
      } else if (Number.isNaN(code)) {
        this.#refuse('syntax', 'a string has no end', start);
      } else if (code < 0x20) {
        this.#refuse('syntax', 'a string has an unescaped control character', at);
      }
    }
  }

  #decoded(start: number, escaped: boolean): string {
    let value: string;
    if (escaped) {
      try {
        value = JSON.parse(this.#text.slice(start, this.#at)) as string;
      } catch {
        return this.#refuse('syntax', 'a string has an unknown escape', start);
      }
    } else {
      value = this.#text.slice(start + 1, this.#at - 1);
    }
    if (hasLoneSurrogate(value)) this.#refuse('value', 'a string has half of a surrogate pair', start);
    return value;
  }

  #numberOrWord(): number | boolean | null {
    const code = this.#text.charCodeAt(this.#at);
    // Only `true`, `false` and `null` begin with a letter.
    for (const [word, value] of code >= LETTERS_FROM ? WORDS : []) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) return this.#unexpected('a value');
    const literal = match[0];
    const value = Number(literal);
    const isPlain = match[1] === undefined && match[2] === undefined;
    if (
      !isExactNumber(value) ||
      (isPlain && !Number.isSafeInteger(value)) ||
      (value === 0 && /[1-9]/.test(literal.split(/[eE]/)[0]!))
    ) {
      this.#refuse('value', 'a number cannot be kept exactly; send it as a string');
    }
    this.#at += literal.length;
    return value;
  }
}

const WORDS: readonly (readonly [string, boolean | null])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];
