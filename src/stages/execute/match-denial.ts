import { RE2JS } from 're2js';

const MAX_TEXT = 8192;
const MAX_CACHED = 1000;
const compiled = new Map<string, RE2JS>();

/** Patterns are RE2, so that a tool cannot stop its worker with a pattern that backtracks. They were validated when the module was described. */
export function matchesDenial(text: string, denials: readonly string[]): boolean {
  const start = text.slice(0, MAX_TEXT);
  return denials.some((pattern) => compile(pattern).matcher(start).find());
}

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= MAX_CACHED) compiled.clear();
  const made = RE2JS.compile(pattern);
  compiled.set(pattern, made);
  return made;
}
