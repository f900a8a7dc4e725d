/** Rules for both JSON text and JavaScript values, so that both ways of passing arguments give the same answers. */

/** Keys with a special meaning in JavaScript: a later merge or assignment could reach a prototype. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const LONE_SURROGATE = /\p{Surrogate}/u;
/** From this value on RFC 8785 writes an exponent, so that the digits are not mistaken for an exact integer. */
const EXPONENT_FROM = 1e21;

export function keyProblem(key: string): string | undefined {
  if (FORBIDDEN_KEYS.has(key)) return `the key "${key}" is not allowed`;
  if (key.includes('\0')) return 'a key has a NUL character';
  if (hasLoneSurrogate(key)) return 'a key has half of a surrogate pair';
  return undefined;
}

/** Text with a lone surrogate cannot be written as UTF-8: what is hashed would not be what is shown. */
export function hasLoneSurrogate(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

/** A number whose canonical form is plain digits must be exact; 6.022e23 is accepted, 9007199254740993 is not. */
export function isExactNumber(value: number): boolean {
  const size = Math.abs(value);
  return size <= Number.MAX_SAFE_INTEGER || (size >= EXPONENT_FROM && size < Infinity);
}
