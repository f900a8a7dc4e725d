/**
 * URI templates of RFC 6570, levels 1 and 2: `{name}` stands for one or more unreserved characters, `{+name}` and `{#name}` also for
 * reserved ones such as `/`. Matching uses no regular expressions made from the template and no backtracking. Its time grows with the
 * lengths of template and URI and no faster. The attack: a template or a URI that keeps a matcher busy (CVE-2026-0621).
 */
export interface UriTemplate {
  readonly text: string;
  /** Names of the variables, in the order in which they stand. */
  readonly variables: readonly string[];
  read(uri: string): ReadUri;
}

export type ReadUri =
  /** `uri` is the canonical spelling, the only one for these values. Rules, approvers and records see it. `values` are decoded. */
  | { readonly kind: 'read'; readonly uri: string; readonly values: Readonly<Record<string, string>> }
  /**
   * The template matches the URI, but the URI must not be used: a variable holds something that leads to another place, such as `..`, or
   * the variables can be read in two ways.
   */
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'other' };

export type ParsedTemplate =
  | { readonly kind: 'template'; readonly template: UriTemplate }
  | { readonly kind: 'problem'; readonly problem: string };

export const URI_LIMITS = Object.freeze({ uriLength: 8192, templateLength: 1024, variables: 20 });

interface Part {
  readonly name: string;
  /** Literal text before the variable. Never empty, except before the first variable. */
  readonly before: string;
}

interface Parts {
  readonly parts: readonly Part[];
  readonly after: string;
  /** Index of the one variable that takes reserved characters; -1 if there is none. */
  readonly wide: number;
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,63}:/;
const URI_TEXT = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;
const NARROW = /^(?:[\w.~-]|%[0-9A-Fa-f]{2})+$/;
const UNRESERVED = /[\w.~-]/;
const NOT_UNRESERVED = /[^\w.~-]/gu;
const NOT_RESERVED_EITHER = /[^\w.~:/?#[\]@!$&'()*+,;=-]/gu;
const ENDS_SEGMENT = /[/?#]/;

/** Whether a text can be the URI of a resource: absolute, ASCII, of bounded length. */
export function isUri(uri: unknown): uri is string {
  return typeof uri === 'string' && uri.length <= URI_LIMITS.uriLength && SCHEME.test(uri) && URI_TEXT.test(uri);
}

/** Normalises a URI by RFC 3986, section 6.2.2: unreserved characters are not encoded, and hexadecimal digits are in upper case. */
export function normaliseUri(uri: string): string {
  return uri.replaceAll(/%[0-9A-Fa-f]{2}/g, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return UNRESERVED.test(character) ? character : triplet.toUpperCase();
  });
}

export function parseUriTemplate(text: unknown): ParsedTemplate {
  if (typeof text !== 'string') return problem('it is not a text');
  if (text.length > URI_LIMITS.templateLength)
    return problem(`it has ${text.length} characters; the limit is ${URI_LIMITS.templateLength}`);
  const read = readParts(text);
  if (typeof read === 'string') return problem(read);
  const literals = [...read.parts.map(({ before }) => before), read.after];
  if (!SCHEME.test(literals[0]!)) return problem('it does not begin with a scheme such as "notes:"');
  if (!literals.every((literal) => URI_TEXT.test(literal))) return problem('it has characters that no URI has');
  if (hasDotSegment(normaliseUri(literals.join('v')))) return problem('it has a "." or ".." segment');
  const variables = read.parts.map(({ name }) => name);
  const parts = normaliseParts(read);
  return {
    kind: 'template',
    template: { text, variables, read: (uri) => (isUri(uri) ? readUri(parts, normaliseUri(uri)) : OTHER) },
  };
}

const OTHER: ReadUri = Object.freeze({ kind: 'other' });

function normaliseParts({ parts, after, wide }: Parts): Parts {
  return {
    parts: parts.map(({ name, before }) => ({ name, before: normaliseUri(before) })),
    after: normaliseUri(after),
    wide,
  };
}

/**
 * Reads a URI into values and a canonical spelling. The attack: a rule denies `pages/prod`, and `pages/%70rod` or `pages/x/..%2Fprod`
 * passes it, although the tool reads the same page. So every set of values has one spelling, and values that a tool could take for another
 * place are refused.
 */
function readUri(template: Parts, uri: string): ReadUri {
  const values = match(template, uri);
  if (values === undefined) return OTHER;
  const canonical = writeUri(template, values);
  const problem = template.parts
    .map(({ name }, place) => findUnsafe(name, values[name]!, place === template.wide))
    .find((found) => found !== undefined);
  if (problem !== undefined) return { kind: 'refused', problem };
  if (hasDotSegment(canonical)) return { kind: 'refused', problem: 'it has a "." or ".." segment' };
  const again = match(template, canonical);
  const isSame = template.parts.every(({ name }) => again?.[name] === values[name]);
  return isSame
    ? { kind: 'read', uri: canonical, values }
    : { kind: 'refused', problem: 'its variables can be read in two ways' };
}

function writeUri({ parts, after, wide }: Parts, values: Readonly<Record<string, string>>): string {
  const written = parts.map(({ name, before }, place) => {
    const encoded = place === wide ? NOT_RESERVED_EITHER : NOT_UNRESERVED;
    return before + values[name]!.replaceAll(encoded, encodeCharacter);
  });
  return written.join('') + after;
}

/** Percent-encodes any character: `encodeURIComponent` leaves some reserved ones as they are. */
function encodeCharacter(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
}

function findUnsafe(name: string, value: string, isWide: boolean): string | undefined {
  if (Array.from(value).some((character) => character < ' ' || character === '\u007F'))
    return `its {${name}} has a control character`;
  if (value.includes('\\')) return `its {${name}} has a backslash`;
  if (!isWide && value.includes('/')) return `its {${name}} has a slash`;
  return hasDotSegment(value) ? `its {${name}} has a "." or ".." segment` : undefined;
}

function hasDotSegment(text: string): boolean {
  return text.split(ENDS_SEGMENT).some((segment) => segment === '.' || segment === '..');
}

function readParts(text: string): Parts | string {
  const parts: Part[] = [];
  let wide = -1;
  let at = 0;
  for (let open = text.indexOf('{'); open >= 0; open = text.indexOf('{', at)) {
    const close = text.indexOf('}', open);
    if (close < 0) return 'a "{" is not closed';
    const operator = /[+#]/.test(text[open + 1]!) ? text[open + 1]! : '';
    const name = text.slice(open + 1 + operator.length, close);
    if (!NAME.test(name)) return `"{${name.slice(0, 40)}}" is not {name}, {+name} or {#name}`;
    if (parts.some((part) => part.name === name)) return `it has {${name}} twice`;
    const before = text.slice(at, open) + (operator === '#' ? '#' : '');
    if (parts.length > 0 && before === '') return 'two variables have nothing between them';
    if (operator !== '' && wide >= 0) return 'only one variable may be {+name} or {#name}';
    if (operator !== '') wide = parts.length;
    parts.push({ name, before });
    at = close + 1;
  }
  if (parts.length === 0) return 'it has no {variable}';
  if (parts.length > URI_LIMITS.variables) return `it has more than ${URI_LIMITS.variables} variables`;
  const after = text.slice(at);
  return after.includes('}') || parts.some(({ before }) => before.includes('}'))
    ? 'a "}" is not opened'
    : { parts, after, wide };
}

/**
 * Matches from the left up to the wide variable and from the right down to it; the wide variable takes what is left. A narrow variable
 * takes as little as it can. All narrow variables allow the same characters, so if this choice does not match a URI, no other choice would.
 */
function match({ parts, after, wide }: Parts, uri: string): Record<string, string> | undefined {
  const values: Record<string, string> = {};
  const first = parts[0]!;
  if (!uri.startsWith(first.before) || !uri.endsWith(after)) return undefined;
  let start = first.before.length;
  let end = uri.length - after.length;
  const last = wide < 0 ? parts.length - 1 : wide;
  for (let place = 0; place < last; place += 1) {
    const next = parts[place + 1]!.before;
    const found = uri.indexOf(next, start + 1);
    if (found < 0 || found + next.length > end || !take(values, parts[place]!.name, uri.slice(start, found), NARROW))
      return undefined;
    start = found + next.length;
  }
  for (let place = parts.length - 1; place > last; place -= 1) {
    const { name, before } = parts[place]!;
    const found = uri.lastIndexOf(before, end - 1 - before.length);
    if (found < start || !take(values, name, uri.slice(found + before.length, end), NARROW)) return undefined;
    end = found;
  }
  if (start >= end) return undefined;
  return take(values, parts[last]!.name, uri.slice(start, end), wide < 0 ? NARROW : URI_TEXT) ? values : undefined;
}

function take(values: Record<string, string>, name: string, text: string, allowed: RegExp): boolean {
  if (!allowed.test(text)) return false;
  try {
    values[name] = decodeURIComponent(text);
    return true;
  } catch {
    // The decoded bytes are not UTF-8.
    return false;
  }
}

function problem(what: string): ParsedTemplate {
  return { kind: 'problem', problem: what };
}
