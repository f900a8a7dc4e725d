// `npm run check:words`: names and comments of src/ and console/src/, and titles of tests, use the words of the trade. See "Plain words" in CONTRIBUTING.md.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStarted, TOP } from './top.mjs';

const FILES = ['src/**/*.{ts,lua}', 'console/src/**/*.{ts,tsx}'];
const TEST_FILES = ['{src,console/src}/**/*.test.ts', 'test/**/*.ts'];

/** In code and comments. */
const NAMES = [
  [/\b(?:MOST|LEAST|LONGEST|SHORTEST)_[A-Z]/, 'MAX_ or MIN_'],
  [/\btell[A-Z]\w*/, 'emit…, log…, warn…, report… or notify…'],
  [/\b\w+(?:Wish|Trouble|Doubts)\b/, 'Request or Options, Error, Warnings'],
];
/** In code only. Texts for people and comments may have these words. */
const IDENTIFIERS = [
  [/\b(?:wish\w*|Wish)\b/, 'request, requested or options'],
  [/\b(?:\w*T(?:rouble|ROUBLE)\w*|troubles?)\b/, 'failure or problem'],
  [/\b(?:most|least)[A-Z]\w*/, 'max… or min…'],
  [/\b(?:tell|\w+Told)\b/, 'emit, log, warn, report, notify or send'],
  [/\b(?:doubts|[sS]cene|McpHome|\w*[oO]pposed\w*)\b/, 'warnings, setup or needs, McpShared, objection'],
  [/\b(?:glance|heed|deaf|patiently|goesOn)\b/, 'lastCheck, listenTo, closed, withRetries, isActive'],
  [/\b(?:isEntered|EnteredCall|speaksOf|twins?|idlers|meetAgain|settleDebt)\b/, 'a name that says what it is'],
];
/** In comments only. Texts for people may say "nobody". */
const COMMENTS = [
  [/^Of\b/, 'a sentence with a subject'],
  [/\b(?:somebody|nobody|whoever)\b/i, 'the role: caller, worker, operator, approver, owner'],
];

/** In titles of tests. */
const TITLES = [
  [/\b(?:somebody|nobody|anybody|everybody|whoever)\b/i, 'the role: caller, worker, operator, approver, owner'],
  [/\bwhatever\b/i, 'for any …, with any …'],
  [/\btold\b/i, 'emitted, logged, warned, reported or notified'],
];
/** The title of a test, of a table of tests or of a group, which begins in this line. */
const TITLE = /^\s*(?:(?:it|test|describe)(?:\.\w+)*(?:<[^(]*>)?(?:\([^'"`]*\))?|\](?: as const)?\))\((['"`])(.*?)\1,/;

/** The text of a comment in this line; undefined without one. A line inside a block comment begins with a star, as the formatter leaves it. */
function commentIn(line, isLua) {
  if (isLua) return /(?:^|\s)--(?:\[\[)?\s*(.*)$/.exec(line)?.[1];
  return (/^\s*(?:\/\*\*?|\*(?!\/))\s*(.*)$/.exec(line) ?? /(?:^|\s)\/\/\s+(.*)$/.exec(line))?.[1];
}

/** The code of this line, without the texts of strings and without its comment. Lines of templates and of JSX text are not recognised. */
function codeIn(line, isLua) {
  if (isLua || /^\s*(?:\/?\*|\/\/)/.test(line)) return '';
  return line.replaceAll(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`/g, '').replace(/(?:^|\s)\/\/\s.*$/, '');
}

/** @returns {{ line: number, found: string, use: string }[]} */
export function findWords(text, isLua = false) {
  return text.split('\n').flatMap((line, index) => {
    // What stands in backquotes is a value, not a word.
    const comment = commentIn(line, isLua)?.replaceAll(/`[^`]*`/g, '');
    const rules = NAMES.map(([pattern, use]) => [line, pattern, use]);
    const code = codeIn(line, isLua);
    rules.push(...IDENTIFIERS.map(([pattern, use]) => [code, pattern, use]));
    if (comment !== undefined) rules.push(...COMMENTS.map(([pattern, use]) => [comment, pattern, use]));
    return rules.flatMap(([where, pattern, use]) => {
      const found = pattern.exec(where)?.[0];
      return found === undefined ? [] : [{ line: index + 1, found, use }];
    });
  });
}

/** @returns {{ line: number, found: string, use: string }[]} */
export function findWordsInTitles(text) {
  return text.split('\n').flatMap((line, index) => {
    const title = TITLE.exec(line)?.[2] ?? '';
    return TITLES.flatMap(([pattern, use]) => {
      const found = pattern.exec(title)?.[0];
      return found === undefined ? [] : [{ line: index + 1, found, use }];
    });
  });
}

if (isStarted(import.meta.url)) {
  const tests = globSync(TEST_FILES, { cwd: TOP });
  const sources = globSync(FILES, { cwd: TOP }).filter((file) => !/\.test\.tsx?$/.test(file));
  const files = sources.concat(tests).toSorted();
  const problems = files.flatMap((file) => {
    const text = readFileSync(join(TOP, file), 'utf8');
    const found = tests.includes(file) ? findWordsInTitles(text) : findWords(text, file.endsWith('.lua'));
    return found.map((each) => `${file}:${each.line}: "${each.found}". Use ${each.use}.`);
  });
  for (const problem of problems) console.log(problem);
  console.log(`${files.length} files, ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
