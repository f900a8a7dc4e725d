import { RE2JS } from 're2js';

const MAX_PATTERN_LENGTH = 2_000;

export interface LinearPattern {
  test(text: string): boolean;
  /** Ajv distinguishes patterns by this text. */
  toString(): string;
}

/** Max patterns in the cache. Compiling takes up to a millisecond, and modules repeat the same few patterns. */
const MAX_KEPT = 500;
const kept = new Map<string, LinearPattern>();

/**
 * A regular expression that takes time linear in the text, whatever the pattern. The attack: with the built-in engine, 28 characters
 * against `^(a+)+$` block the process for 20 seconds. Throws for what RE2 does not support: look-around, back-references.
 */
export function compileLinearPattern(source: string): LinearPattern {
  const known = kept.get(source);
  if (known !== undefined) return known;
  if (source.length > MAX_PATTERN_LENGTH)
    throw new RangeError(`a pattern has more than ${MAX_PATTERN_LENGTH} characters`);
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  const pattern = Object.freeze({ test: (text: string) => compiled.test(text), toString: () => `linear:${source}` });
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value!);
  kept.set(source, pattern);
  return pattern;
}

export function isLinearPattern(source: string): boolean {
  try {
    compileLinearPattern(source);
    return true;
  } catch {
    return false;
  }
}
