import { inOneLine, printable } from '../../base/clean-text.ts';
import { SoughtText } from './find-text.ts';

/** One way in which a secret can be written. In addition, the search undoes the escapes of JSON, URLs and HTML. */
export interface SecretForm {
  readonly sought: SoughtText;
  /** Whether this form may be broken into lines, as base64 often is. */
  readonly breaks: boolean;
  /** Set for base64: the character before or after the form contains bits of the secret too, beside bits of its neighbour. */
  readonly edges?: Edges;
}

interface Edges {
  readonly before: boolean;
  readonly after: boolean;
}

const MIN_LINE = 16;
/**
 * Min characters of a secret that is found anywhere in a text. The encoded form of a shorter secret looks like ordinary text, so a shorter
 * secret is found only where no letter or digit is next to it.
 */
export const MIN_ANYWHERE = 6;

/**
 * The forms of a secret that are searched for: the secret itself; the secret after the cleaning that reasons and log lines get before
 * secrets are removed from them; its escaped forms; base64 at any position of a longer text; and hexadecimal.
 */
export function formsOf(value: string): SecretForm[] {
  const parts = [value, ...longLines(value)];
  const bases = new Map<string, Edges>(
    parts.flatMap((part) => (part.length < MIN_ANYWHERE ? wholeBase64(part) : base64Cores(part))),
  );
  // Escaped forms are searched for too, although the search undoes escapes: if only the secret is escaped, a backslash or `%` before it in
  // the plain text can combine with an escape, and undoing the escapes then spoils the secret.
  const plain = new Set(parts.flatMap((part) => [part, ...cleaned(part), ...usualEscapes(part), ...hex(part)]));
  return [
    ...Array.from(plain, (text) => ({ sought: new SoughtText(text), breaks: false })),
    ...Array.from(bases, ([text, edges]) => ({ sought: new SoughtText(text), breaks: true, edges })),
  ];
}

const OF_BASE64 = /[A-Za-z0-9+/_-]/;

/** The place of a form in a text, with the characters next to it that contain bits of the secret. `isCut`: only the beginning was found. */
export function withEdges(
  { edges }: SecretForm,
  text: string,
  [start, end]: readonly [start: number, end: number],
  isCut = false,
): readonly [start: number, end: number] {
  if (edges === undefined) return [start, end];
  const isBase64 = (index: number): boolean => OF_BASE64.test(text.charAt(index));
  return [
    edges.before && isBase64(start - 1) ? start - 1 : start,
    (edges.after || isCut) && isBase64(end) ? end + 1 : end,
  ];
}

/** The forms of a secret in bytes that are not text, where no escapes are undone. */
export function byteFormsOf(value: string): SecretForm[] {
  const forms = value.length < MIN_ANYWHERE ? [] : formsOf(value);
  const bytes = new Map<string, Edges | undefined>([
    ...forms.map(({ sought, edges }) => [Buffer.from(sought.text).toString('latin1'), edges] as const),
    [Buffer.from(value, 'utf16le').toString('latin1'), undefined],
  ]);
  return Array.from(bytes, ([text, edges]) => ({
    sought: new SoughtText(text),
    breaks: false,
    ...(edges === undefined ? {} : { edges }),
  }));
}

/** A key of several lines is often shown indented, or one line at a time. */
function longLines(value: string): string[] {
  if (!value.includes('\n')) return [];
  const lines = value.split('\n').map((line) => line.trim());
  return lines.filter((line) => line.length >= MIN_LINE && !line.startsWith('-----'));
}

function wholeBase64(value: string): [string, Edges][] {
  const encoded = Buffer.from(value).toString('base64');
  const bare = encoded.replace(/=+$/, '');
  return [encoded, bare, toUrlAlphabet(bare)].map((text) => [text, { before: false, after: false }]);
}

/**
 * Base64 encodes three bytes as four characters, so a value can be aligned in three ways. Returns the part of each that does not depend on
 * the bytes around it.
 */
function base64Cores(value: string): [string, Edges][] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const [start, end] = [(before * 8) / 6, ((before + bytes.length) * 8) / 6];
    const core = encoded.slice(Math.ceil(start), Math.floor(end));
    const edges = { before: !Number.isInteger(start), after: !Number.isInteger(end) };
    return [core, toUrlAlphabet(core)].map((text): [string, Edges] => [text, edges]);
  });
}

function toUrlAlphabet(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

/** A form is left out if cleaning has left so little of the secret that it cannot be distinguished from other text. */
function cleaned(value: string): string[] {
  return [inOneLine(value), printable(value)].filter((text) => text.length >= Math.min(value.length, MIN_ANYWHERE));
}

function usualEscapes(value: string): string[] {
  return [encodeURIComponent(value), JSON.stringify(value).slice(1, -1)];
}

function hex(value: string): string[] {
  const digits = Buffer.from(value).toString('hex');
  return [digits, digits.toUpperCase()];
}
