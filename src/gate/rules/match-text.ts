import { RE2JS } from 're2js';
import { ofText, type Judge } from './judgement.ts';

/**
 * Steps for one text: its length times the size of the compiled pattern. The engine needs about 10 ns for one, so no text holds a
 * worker up for more than a fifth of a second. More cannot be judged.
 */
const MOST_STEPS = 16 * 1024 * 1024;
const LONGEST_PATTERN = 2_000;

/** RE2, found anywhere in the text: time is linear in its length. Throws on what RE2 cannot say, such as back-references. */
export function matchPattern(source: string): Judge {
  if (source.length > LONGEST_PATTERN) throw new RangeError(`a pattern has more than ${LONGEST_PATTERN} characters`);
  const compiled = RE2JS.compile(source);
  const longest = Math.floor(MOST_STEPS / compiled.programSize());
  return ofText((text) => {
    if (text.length > longest) return 'unclear';
    return compiled.test(text) ? 'holds' : 'fails';
  });
}

/**
 * The whole text: `*` stands for anything without a slash, `**` for anything, `?` for one character that is no slash. `**` between
 * slashes also stands for no folder at all. Everything else means itself.
 */
export function matchGlob(glob: string): Judge {
  const parts = glob.match(/(?<=^|\/)\*{2,}\/|\*{2,}|\*|\?|[^*?]+/gs) ?? [];
  return matchPattern(`(?s)\\A${parts.map(translatePart).join('')}\\z`);
}

function translatePart(part: string): string {
  if (part === '*') return '[^/]*';
  if (part === '?') return '[^/]';
  if (!part.startsWith('**')) return RE2JS.quote(part);
  return part.endsWith('/') ? '(?:.*/)?' : '.*';
}

export function matchPrefix(prefix: string): Judge {
  return ofText((text) => (text.startsWith(prefix) ? 'holds' : 'fails'));
}
