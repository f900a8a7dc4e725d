// `npm run check:words`: names and comments of src/ and console/src/ use the words of the trade. See "Plain words" in CONTRIBUTING.md.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStarted, TOP } from './top.mjs';

const FILES = ['src/**/*.{ts,lua}', 'console/src/**/*.{ts,tsx}'];

/** In code and comments. */
const NAMES = [
  [/\b(?:MOST|LEAST|LONGEST|SHORTEST)_[A-Z]/, 'MAX_ or MIN_'],
  [/\btell[A-Z]\w*/, 'emit…, log…, warn…, report… or notify…'],
  [/\b\w+(?:Wish|Trouble|Doubts)\b/, 'Request or Options, Error, Warnings'],
];
/** In comments only. Texts for people may say "nobody". */
const COMMENTS = [
  [/^Of\b/, 'a sentence with a subject'],
  [/\b(?:somebody|nobody|whoever)\b/i, 'the role: caller, worker, operator, approver, owner'],
];

/** The text of a comment in this line; undefined without one. A line inside a block comment begins with a star, as the formatter leaves it. */
function commentIn(line, isLua) {
  if (isLua) return /(?:^|\s)--(?:\[\[)?\s*(.*)$/.exec(line)?.[1];
  return (/^\s*(?:\/\*\*?|\*(?!\/))\s*(.*)$/.exec(line) ?? /(?:^|\s)\/\/\s+(.*)$/.exec(line))?.[1];
}

/** @returns {{ line: number, found: string, use: string }[]} */
export function findWords(text, isLua = false) {
  return text.split('\n').flatMap((line, index) => {
    // What stands in backquotes is a value, not a word.
    const comment = commentIn(line, isLua)?.replaceAll(/`[^`]*`/g, '');
    const rules = NAMES.map(([pattern, use]) => [line, pattern, use]);
    if (comment !== undefined) rules.push(...COMMENTS.map(([pattern, use]) => [comment, pattern, use]));
    return rules.flatMap(([where, pattern, use]) => {
      const found = pattern.exec(where)?.[0];
      return found === undefined ? [] : [{ line: index + 1, found, use }];
    });
  });
}

if (isStarted(import.meta.url)) {
  const files = globSync(FILES, { cwd: TOP })
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .toSorted();
  const problems = files.flatMap((file) =>
    findWords(readFileSync(join(TOP, file), 'utf8'), file.endsWith('.lua')).map(
      ({ line, found, use }) => `${file}:${line}: "${found}". Use ${use}.`,
    ),
  );
  for (const problem of problems) console.log(problem);
  console.log(`${files.length} files, ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
