import { RE2JS } from 're2js';
import { BoundedCache } from '../../base/bounded-cache.ts';

const MAX_PATTERN_LENGTH = 2_000;

export interface LinearPattern {
  test(text: string): boolean;
  /** Ajv uses this text to distinguish patterns. */
  toString(): string;
}

/** Cache for the whole process. Compiling a pattern takes up to a millisecond, and modules repeat the same few patterns. */
const patterns = new BoundedCache<string, LinearPattern>(500);

/**
 * A regular expression that takes time linear in the text, whatever the pattern. The attack: with the built-in engine, 28 characters
 * against `^(a+)+$` block the process for 20 seconds. Throws for what RE2 does not support: look-around, back-references.
 */
export function compileLinearPattern(source: string): LinearPattern {
  return patterns.getOrMake(source, compile);
}

function compile(source: string): LinearPattern {
  if (source.length > MAX_PATTERN_LENGTH)
    throw new RangeError(`a pattern has more than ${MAX_PATTERN_LENGTH} characters`);
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  return Object.freeze({ test: (text: string) => compiled.test(text), toString: () => `linear:${source}` });
}

export function isLinearPattern(source: string): boolean {
  try {
    compileLinearPattern(source);
    return true;
  } catch {
    return false;
  }
}
