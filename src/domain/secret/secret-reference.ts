import type { JsonObject, JsonValue } from '../../base/json.ts';

/** The form of a secret's name, such as `GITHUB_TOKEN`. Capitals, so that ordinary text is never taken for a name. */
export const SECRET_NAME = /^[A-Z][A-Z0-9_]{0,63}$/;

/** A name, or all names with a common beginning: `MAIL_*`. */
export const SECRET_PATTERN = /^[A-Z][A-Z0-9_]{0,62}(?:[A-Z0-9_]|\*)?$/;

/**
 * What a tool declares: a pattern of names that its arguments, its setup and its own code may use. With the prefix `own:`, only setup and
 * code may use them, so that nothing a caller writes can send the secret elsewhere.
 */
export const SECRET_DECLARATION = new RegExp(`^(?:own:)?${SECRET_PATTERN.source.slice(1)}`);
const OWN = 'own:';

/** Where a secret is used: in what the caller sent, or by the tool itself. */
export type SecretPlace = 'arguments' | 'own';

export function declarationMatches(declaration: string, name: string, place: SecretPlace): boolean {
  const isOwn = declaration.startsWith(OWN);
  if (isOwn && place === 'arguments') return false;
  return secretMatches(isOwn ? declaration.slice(OWN.length) : declaration, name);
}

export function secretMatches(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** Every text that has a reference or an escape contains this word. */
export const SECRET_WORD = 'secret:';
const OPENING = '${secret:';
const WHOLE = /^secret:[^\s:]\S*$/;

export type SecretText =
  | { readonly kind: 'plain' }
  /** Text and names in turn: the parts at odd indexes are names. */
  | { readonly kind: 'parts'; readonly parts: readonly string[] }
  | { readonly kind: 'invalid'; readonly problem: string };

const PLAIN: SecretText = Object.freeze({ kind: 'plain' });

/**
 * Parses references to secrets: `secret:NAME` as the whole text, or `${secret:NAME}` anywhere in it. `secret::NAME` and `$${secret:NAME}`
 * are escapes for the letters themselves. Text that only starts with "secret: " is plain text.
 */
export function parseSecretText(text: string): SecretText {
  if (!text.includes(SECRET_WORD)) return PLAIN;
  if (text.startsWith('secret::')) return parseInner(`secret:${text.slice('secret::'.length)}`, true);
  if (!WHOLE.test(text)) return parseInner(text, false);
  const name = text.slice(SECRET_WORD.length);
  return SECRET_NAME.test(name) ? { kind: 'parts', parts: ['', name, ''] } : invalid(name);
}

function parseInner(text: string, changed: boolean): SecretText {
  const parts: string[] = [];
  let literal = '';
  let from = 0;
  for (let at = text.indexOf(OPENING); at >= 0; at = text.indexOf(OPENING, from)) {
    if (at > from && text[at - 1] === '$') {
      literal += text.slice(from, at - 1) + OPENING;
      from = at + OPENING.length;
      changed = true;
      continue;
    }
    const end = text.indexOf('}', at);
    const name = text.slice(at + OPENING.length, end < 0 ? undefined : end);
    if (end < 0 || !SECRET_NAME.test(name)) return invalid(name);
    parts.push(literal + text.slice(from, at), name);
    literal = '';
    from = end + 1;
  }
  if (parts.length === 0 && !changed) return PLAIN;
  return { kind: 'parts', parts: [...parts, literal + text.slice(from)] };
}

/** The problem does not quote the text: it may be a secret that a person wrote where its name belongs. */
function invalid(name: string): SecretText {
  const problem = name.length === 0 ? 'it names none' : `${name.length} characters that are no name`;
  return { kind: 'invalid', problem };
}

export interface FoundReferences {
  readonly names: ReadonlySet<string>;
  /** The problem of the first reference that cannot be parsed. */
  readonly problem?: string;
  /** True if filling in changes the value, because it has references or escapes. */
  readonly needsFilling: boolean;
}

const NONE: FoundReferences = Object.freeze({ names: new Set<string>(), needsFilling: false });

/** Finds the references in all texts of a value. Keys are never references. */
export function findReferences(value: JsonValue): FoundReferences {
  const names = new Set<string>();
  let problem: string | undefined;
  let needsFilling = false;
  forEachText(value, (text) => {
    const parsed = parseSecretText(text);
    if (parsed.kind === 'plain') return;
    needsFilling = true;
    if (parsed.kind === 'invalid') problem ??= parsed.problem;
    else for (let index = 1; index < parsed.parts.length; index += 2) names.add(parsed.parts[index]!);
  });
  if (!needsFilling) return NONE;
  return problem === undefined ? { names, needsFilling } : { names, needsFilling, problem };
}

function forEachText(value: JsonValue, visit: (text: string) => void): void {
  if (typeof value === 'string') visit(value);
  else if (Array.isArray(value)) for (const item of value) forEachText(item, visit);
  else if (typeof value === 'object' && value !== null) {
    for (const key in value) if (Object.hasOwn(value, key)) forEachText(value[key]!, visit);
  }
}

/**
 * A copy with values in place of references. If the value of a reference is undefined, the text that contains it stays as it is written.
 */
export function fillReferences(value: JsonValue, valueOf: (name: string) => string | undefined): JsonValue {
  if (typeof value === 'string') return fillText(value, valueOf);
  if (Array.isArray(value)) return value.map((item) => fillReferences(item, valueOf));
  if (typeof value !== 'object' || value === null) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) copy[key] = fillReferences(value[key]!, valueOf);
  return copy;
}

function fillText(text: string, valueOf: (name: string) => string | undefined): string {
  const parsed = parseSecretText(text);
  if (parsed.kind !== 'parts') return text;
  const { parts } = parsed;
  const values = parts.map((part, index) => (index % 2 === 0 ? part : valueOf(part)));
  if (values.includes(undefined)) return text;
  return values.join('');
}
