import { RE2JS } from 're2js';
import { ofText, type Compare } from './comparison-result.ts';

/**
 * Max steps for one text: its length times the size of the compiled pattern. The engine takes about 10 ns per step, so no text blocks a
 * worker for more than a fifth of a second. A longer text is `unclear`.
 */
const MAX_PATTERN_STEPS = 16 * 1024 * 1024;
const MAX_PATTERN_LENGTH = 2_000;

/**
 * Searches the text for an RE2 pattern, in time linear in the length of the text. Throws if RE2 does not support the pattern, for example
 * back-references.
 */
export function matchPattern(source: string): Compare {
  if (source.length > MAX_PATTERN_LENGTH)
    throw new RangeError(`a pattern has more than ${MAX_PATTERN_LENGTH} characters`);
  const compiled = RE2JS.compile(source);
  const longest = Math.floor(MAX_PATTERN_STEPS / compiled.programSize());
  return ofText((text) => {
    if (text.length > longest) return 'unclear';
    return compiled.test(text) ? 'holds' : 'fails';
  });
}

/**
 * Matches the whole text. `*` matches any characters but a slash, `**` any characters, `?` one character but a slash. `**` between slashes
 * also matches no folder at all. Every other character matches itself.
 */
export function matchGlob(glob: string): Compare {
  const parts = glob.match(/(?<=^|\/)\*{2,}\/|\*{2,}|\*|\?|[^*?]+/gs) ?? [];
  return matchPattern(`(?s)\\A${parts.map(translatePart).join('')}\\z`);
}

function translatePart(part: string): string {
  if (part === '*') return '[^/]*';
  if (part === '?') return '[^/]';
  if (!part.startsWith('**')) return RE2JS.quote(part);
  return part.endsWith('/') ? '(?:.*/)?' : '.*';
}

export function matchPrefix(prefix: string): Compare {
  return ofText((text) => (text.startsWith(prefix) ? 'holds' : 'fails'));
}
