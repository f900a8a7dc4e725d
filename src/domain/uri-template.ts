/**
 * URI templates of RFC 6570, levels 1 and 2: `{name}` stands for one or more unreserved characters, `{+name}` and `{#name}` also for
 * reserved ones such as `/`. Matched without regular expressions made from the template and without going back, in time that grows
 * with template and URI and no faster. The attack: a template or a URI that keeps a matcher busy (CVE-2026-0621).
 */
export interface UriTemplate {
  readonly text: string;
  /** In the order in which they stand. */
  readonly variables: readonly string[];
  /** The values of its variables, decoded; undefined for a URI that it does not describe. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}

export type ParsedTemplate =
  | { readonly kind: 'template'; readonly template: UriTemplate }
  | { readonly kind: 'problem'; readonly problem: string };

export const URI_LIMITS = Object.freeze({ uriLength: 8192, templateLength: 1024, variables: 20 });

interface Part {
  readonly name: string;
  /** What stands before it. Never empty but for the first. */
  readonly before: string;
}

interface Parts {
  readonly parts: readonly Part[];
  readonly after: string;
  /** Place of the one variable that takes reserved characters; -1 without one. */
  readonly wide: number;
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,63}:/;
const URI_TEXT = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;
const NARROW = /^(?:[\w.~-]|%[0-9A-Fa-f]{2})+$/;

/** Whether a text can be the URI of a resource: absolute, ASCII, of bounded length. */
export function isUri(uri: unknown): uri is string {
  return typeof uri === 'string' && uri.length <= URI_LIMITS.uriLength && SCHEME.test(uri) && URI_TEXT.test(uri);
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
  const variables = read.parts.map(({ name }) => name);
  return {
    kind: 'template',
    template: { text, variables, match: (uri) => (isUri(uri) ? match(read, uri) : undefined) },
  };
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
 * From the left up to the wide variable, from the right down to it; it takes what is left. A narrow variable takes as little as it can:
 * as all of them take the same characters, another choice could match nothing that this one does not.
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
    // Not UTF-8.
    return false;
  }
}

function problem(what: string): ParsedTemplate {
  return { kind: 'problem', problem: what };
}
