import { hasLoneSurrogate } from './well-formed.ts';

/** Rules for both JSON text and JavaScript values, so that both ways of passing arguments give the same answers. */

/** Keys with a special meaning in JavaScript: a later merge or assignment could reach a prototype. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** RFC 8785 writes numbers from this value on with an exponent. Such a number does not look like an exact integer, so it may be inexact. */
const EXPONENT_FROM = 1e21;

export function keyProblem(key: string): string | undefined {
  if (FORBIDDEN_KEYS.has(key)) return `the key "${key}" is not allowed`;
  if (key.includes('\0')) return 'a key has a NUL character';
  if (hasLoneSurrogate(key)) return 'a key has half of a surrogate pair';
  return undefined;
}

/** A number whose canonical form is plain digits must be exact; 6.022e23 is accepted, 9007199254740993 is not. */
export function isExactNumber(value: number): boolean {
  const size = Math.abs(value);
  return size <= Number.MAX_SAFE_INTEGER || (size >= EXPONENT_FROM && size < Infinity);
}
