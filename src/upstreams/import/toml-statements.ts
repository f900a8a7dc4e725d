import { parse } from 'smol-toml';

/** A header or an assignment in a TOML text, with the place that it takes. Comments around it are not part of it. */
export interface TomlStatement {
  readonly kind: 'table' | 'pair';
  /** The whole path. That of an assignment begins with the path of its table. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the statements of a TOML text, in their order. The text must have been parsed before: this scanner relies on correct syntax. The
 * parser itself reports no places.
 */
export function tomlStatements(text: string): TomlStatement[] {
  const statements: TomlStatement[] = [];
  let table: readonly string[] = [];
  let at = 0;
  while ((at = skipBlank(text, at)) < text.length) {
    const start = at;
    if (text[at] === '[') {
      const isArray = text[at + 1] === '[';
      const close = scanUntil(text, at + (isArray ? 2 : 1), ']');
      table = keyPath(text.slice(at + (isArray ? 2 : 1), close));
      at = close + (isArray ? 2 : 1);
      statements.push({ kind: 'table', path: table, start, end: at });
    } else {
      const equals = scanUntil(text, at, '=');
      const path = [...table, ...keyPath(text.slice(at, equals))];
      at = endOfValue(text, equals + 1);
      statements.push({ kind: 'pair', path, start, end: at });
    }
  }
  return statements;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    if (text[at] === '#') at = endOfLine(text, at);
    else if (/\s/.test(text[at]!)) at += 1;
    else break;
  }
  return at;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** The position of a character outside of quotes. */
function scanUntil(text: string, from: number, wanted: string): number {
  let at = from;
  while (at < text.length && text[at] !== wanted) at = isQuote(text[at]) ? endOfString(text, at) : at + 1;
  return at;
}

/** The end of a value that may take several lines: strings with three quotes, and lists. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let end = from;
  let at = from;
  while (at < text.length) {
    const character = text[at]!;
    if (character === '\n' && depth === 0) break;
    if (character === '#') {
      at = endOfLine(text, at);
      continue;
    }
    if ('[{'.includes(character)) depth += 1;
    if (']}'.includes(character)) depth -= 1;
    const next = isQuote(character) ? endOfString(text, at) : at + 1;
    if (!/\s/.test(character)) end = next;
    at = next;
  }
  return end;
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}

function endOfString(text: string, from: number): number {
  const quote = text[from]!;
  const isLong = text.startsWith(quote.repeat(3), from);
  const closing = isLong ? quote.repeat(3) : quote;
  let at = from + closing.length;
  while (at < text.length && !text.startsWith(closing, at)) at += quote === '"' && text[at] === '\\' ? 2 : 1;
  at += closing.length;
  // A long string may end with one or two quotes of its own before the closing ones.
  while (isLong && text[at] === quote) at += 1;
  return at;
}

/** Reads a key with the parser itself, because parts can be quoted and escaped. */
function keyPath(key: string): string[] {
  const path: string[] = [];
  let value: unknown = parse(`${key.trim()} = 0`);
  while (typeof value === 'object' && value !== null) {
    const [[name, inner] = ['', undefined]] = Object.entries(value) as [string, unknown][];
    path.push(name);
    value = inner;
  }
  return path;
}
