import { RE2JS } from 're2js';
import { BoundedCache } from '../../base/bounded-cache.ts';

const MAX_TEXT = 8192;
/** One for the process. Compiling takes longer than matching, and every result of a tool needs the same patterns. */
const patterns = new BoundedCache<string, RE2JS>(1000);

/** Patterns are RE2, so that a tool cannot stop its worker with a pattern that backtracks. They were validated when the module was described. */
export function matchesDenial(text: string, denials: readonly string[]): boolean {
  const start = text.slice(0, MAX_TEXT);
  return denials.some((pattern) => patterns.getOrMake(pattern, compile).matcher(start).find());
}

function compile(pattern: string): RE2JS {
  return RE2JS.compile(pattern);
}
