import { SECRET_NAME } from '../../domain/secret/secret-reference.ts';
import type { Span } from './find-credentials.ts';
import { isPasswordKey, isSecretKey } from './secret-words.ts';

const NAME = /[A-Za-z][A-Za-z0-9_-]*/g;
const MAX_NAME_LENGTH = 128;
/** Headers whose value extends to the end of the line, spaces and semicolons included. */
const WHOLE_LINE = /^(?:proxy-)?authori[sz]ation$|^(?:set-)?cookie$/i;
const SCHEME = /(?:bearer|basic|token|digest|negotiate|apikey)[ \t]{1,4}/iy;
const UNQUOTED_END = /[\s"'`&;|<>]|$/g;
const LINE_END = /[\r\n"'`]|$/g;

/**
 * Finds secret values by their names, in commands and in any other text: `PASSWORD=x`, `password: x`, `"api_key": "x"`, `--token x`,
 * `Authorization: Bearer x`.
 */
export function findAssignments(text: string): Span[] {
  const spans: Span[] = [];
  NAME.lastIndex = 0;
  for (let found = NAME.exec(text); found !== null; found = NAME.exec(text)) {
    const name = found[0].slice(-MAX_NAME_LENGTH);
    if (!isSecretKey(name)) continue;
    const end = found.index + found[0].length;
    const value = valueAfter(text, name, end, text[found.index - 1] === '-');
    if (value === undefined) continue;
    if (!isHarmless(text.slice(value[0], value[1]))) spans.push(value);
    NAME.lastIndex = Math.max(value[1], end);
  }
  return [...spans, ...findLogins(text)];
}

function valueAfter(text: string, name: string, end: number, isFlag: boolean): Span | undefined {
  const at = skipSpaces(text, skipQuote(text, end));
  const separator = text[at];
  if (separator === '=' || separator === ':') {
    const start = skipSpaces(text, at + (text[at + 1] === '=' || text[at + 1] === '>' ? 2 : 1));
    // The colon belongs to a reference to a secret, or ends the scheme of a URL.
    if (separator === ':' && start === at + 1 && isReference(text, name, start)) return undefined;
    if (WHOLE_LINE.test(name)) return readLine(text, start);
    const value = readValue(text, start);
    return separator === ':' && !value.quoted && isProse(name, text.slice(...value.span)) ? undefined : value.span;
  }
  if (!isFlag || at === end || (text[end] !== ' ' && text[end] !== '\t')) return undefined;
  return text[at] === '-' ? undefined : readValue(text, at).span;
}

function isReference(text: string, name: string, start: number): boolean {
  if (text.startsWith('//', start)) return true;
  if (name !== 'secret') return false;
  const word = /[A-Za-z0-9_]*/y;
  // `secret::NAME` is an escaped form: it stands for the plain letters `secret:NAME`.
  word.lastIndex = text[start] === ':' ? start + 1 : start;
  return SECRET_NAME.test(word.exec(text)?.[0] ?? '');
}

/**
 * Whether the value is ordinary prose: "token: expected text" mentions a token but contains none. After a name for a password, or a name
 * that is not a plain word, every value counts as a secret.
 */
function isProse(name: string, value: string): boolean {
  return /^[a-z]*$/.test(value) && /^[A-Za-z][a-z]*$/.test(name) && !isPasswordKey(name);
}

function readValue(text: string, start: number): { readonly span: Span; readonly quoted: boolean } {
  const inner = skipQuote(text, start);
  if (inner === start) return { span: [start, trimEnd(text, start, endAt(text, start, UNQUOTED_END))], quoted: false };
  const opening = text.slice(start, inner);
  return { span: [inner, closingOf(text, inner, opening)], quoted: true };
}

/** The value of a header, without the name of its scheme: the scheme stays visible and shows what kind of credential it is. */
function readLine(text: string, from: number): Span {
  const start = skipQuote(text, from);
  SCHEME.lastIndex = start;
  const scheme = SCHEME.exec(text)?.[0].length ?? 0;
  return [start + scheme, trimEnd(text, start + scheme, endAt(text, start + scheme, LINE_END))];
}

function endAt(text: string, start: number, pattern: RegExp): number {
  pattern.lastIndex = start;
  return pattern.exec(text)?.index ?? text.length;
}

/**
 * Removes brackets and punctuation after an unquoted value, because they belong to the surrounding text, and backslashes, because they
 * belong to the closing quote.
 */
function trimEnd(text: string, start: number, end: number): number {
  let last = end;
  const around = text.startsWith('${', start) ? '\\,.)]' : '\\,.)]}';
  while (last > start && around.includes(text[last - 1]!)) last -= 1;
  return last;
}

const MAX_SPACES = 3;

function skipSpaces(text: string, start: number): number {
  let at = start;
  while (at < start + MAX_SPACES && (text[at] === ' ' || text[at] === '\t')) at += 1;
  return at;
}

/** Skips an opening quote, with the backslashes before it that a JSON text inside another text has. */
function skipQuote(text: string, start: number): number {
  let at = start;
  while (at < start + 3 && text[at] === '\\') at += 1;
  return text[at] === '"' || text[at] === "'" ? at + 1 : start;
}

/** The position where the quote is closed in the same way as it was opened; otherwise the end of the line. */
function closingOf(text: string, start: number, opening: string): number {
  const quote = opening.at(-1)!;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '\n') return at;
    if (opening.length === 1 && text[at] === '\\') at += 1;
    else if (text[at] === quote && text.startsWith(opening, at - opening.length + 1)) return at - opening.length + 1;
  }
  return text.length;
}

const HARMLESS =
  /^(?:|null|true|false|none|undefined|\*+|\[secret [^\]]*\]?|secret:[A-Z][A-Z0-9_]*|\$\(.*|%[A-Za-z_]\w*%)$/;
/** Only a shell variable or a reference to a secret, optionally after the name of a scheme. */
const VARIABLE = /^(?:bearer |basic |token )?(?:\$\{[A-Za-z_:]\w*(?::[A-Z0-9_]+)?\}|\$[A-Za-z_]\w*)$/i;

/** Whether the value is not itself a secret: it only states where the secret comes from, or that there is none. */
export function isHarmless(value: string): boolean {
  return value.length <= 256 && (HARMLESS.test(value) || VARIABLE.test(value));
}

const LOGIN = /(?<![\w-])(?:-u|--user|--proxy-user)[ =]{0,3}["']?([^\s"':]{1,64}):([^\s"']+)/g;
const SSHPASS = /\bsshpass\s{1,3}-p\s{0,3}["']?([^\s"']+)/g;
const MYSQL = /\b(?:mysql|mariadb)[a-z-]{0,12}\b[^|;&\n]{0,200}?\s-p([^\s"'-][^\s"']*)/g;
const NUMBER = /^[0-9]+$/;

/** Finds the password in `curl -u user:password` and similar commands. Two numbers are a user id and a group id, and are not masked. */
function findLogins(text: string): Span[] {
  const spans: Span[] = [];
  for (const { index, 0: found, 1: user = '', 2: password = '' } of text.matchAll(LOGIN)) {
    const end = index + found.length;
    if (!(NUMBER.test(user) && NUMBER.test(password)) && !isHarmless(password))
      spans.push([end - password.length, end]);
  }
  for (const pattern of [SSHPASS, MYSQL]) {
    for (const { index, 0: found, 1: password = '' } of text.matchAll(pattern)) {
      if (!isHarmless(password)) spans.push([index + found.length - password.length, index + found.length]);
    }
  }
  return spans;
}
