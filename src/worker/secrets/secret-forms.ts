import { inOneLine, printable } from '../../base/clean-text.ts';
import { SoughtText } from './find-text.ts';

/** One way in which a secret can be written. In addition, the search undoes the escapes of JSON, URLs and HTML. */
export interface SecretForm {
  readonly sought: SoughtText;
  /** Whether this form may be broken into lines, as base64 often is. */
  readonly breaks: boolean;
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
  const bases = new Set(parts.flatMap((part) => (part.length < MIN_ANYWHERE ? wholeBase64(part) : base64Cores(part))));
  // Escaped forms are searched for too, although the search undoes escapes: if only the secret is escaped, a backslash or `%` before it in
  // the plain text can combine with an escape, and undoing the escapes then spoils the secret.
  const plain = new Set(parts.flatMap((part) => [part, ...cleaned(part), ...usualEscapes(part), ...hex(part)]));
  return [
    ...Array.from(plain, (text) => ({ sought: new SoughtText(text), breaks: false })),
    ...Array.from(bases, (text) => ({ sought: new SoughtText(text), breaks: true })),
  ];
}

/** The forms of a secret in bytes that are not text, where no escapes are undone. */
export function byteFormsOf(value: string): SoughtText[] {
  const forms = value.length < MIN_ANYWHERE ? [] : formsOf(value).map(({ sought }) => sought.text);
  const bytes = [...forms.map((text) => Buffer.from(text)), Buffer.from(value, 'utf16le')];
  return Array.from(new Set(bytes.map((form) => form.toString('latin1'))), (form) => new SoughtText(form));
}

/** A key of several lines is often shown indented, or one line at a time. */
function longLines(value: string): string[] {
  if (!value.includes('\n')) return [];
  const lines = value.split('\n').map((line) => line.trim());
  return lines.filter((line) => line.length >= MIN_LINE && !line.startsWith('-----'));
}

function wholeBase64(value: string): string[] {
  const encoded = Buffer.from(value).toString('base64');
  const bare = encoded.replace(/=+$/, '');
  return [encoded, bare, toUrlAlphabet(bare)];
}

/**
 * Base64 encodes three bytes as four characters, so a value can be aligned in three ways. Returns the part of each that does not depend on
 * the bytes around it.
 */
function base64Cores(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const core = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [core, toUrlAlphabet(core)];
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
