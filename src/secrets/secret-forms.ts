import { SoughtText } from './find-text.ts';

/** One way in which a secret can be written. */
export interface SecretForm {
  readonly sought: SoughtText;
  /** Base64 is often broken into lines. */
  readonly breaks: boolean;
}

const LEAST_LINE = 16;
/** Below this, encoded pieces are too short to be told from other text; such secrets are found only where they stand alone. */
export const LEAST_ANYWHERE = 6;

/** The secret as it is, in base64 at any place of a longer text, escaped for addresses, JSON and HTML, and in hexadecimal. */
export function formsOf(value: string): SecretForm[] {
  const parts = [value, ...longLines(value)];
  const bases = parts.flatMap((part) => (part.length < LEAST_ANYWHERE ? wholeBase64(part) : base64Cores(part)));
  const plain = parts.flatMap((part) => [
    part,
    ...urlEscaped(part),
    ...jsonEscaped(part),
    htmlEscaped(part),
    ...hex(part),
  ]);
  const escapedBases = bases.flatMap(urlEscaped);
  const breaking = new Set([...bases, ...escapedBases]);
  const whole = new Set(plain.filter((text) => !breaking.has(text)));
  return [
    ...Array.from(whole, (text) => ({ sought: new SoughtText(text), breaks: false })),
    ...Array.from(breaking, (text) => ({ sought: new SoughtText(text), breaks: true })),
  ];
}

/** A key in several lines is often shown indented, or a line at a time. */
function longLines(value: string): string[] {
  if (!value.includes('\n')) return [];
  const lines = value.split('\n').map((line) => line.trim());
  return lines.filter((line) => line.length >= LEAST_LINE && !line.startsWith('-----'));
}

function wholeBase64(value: string): string[] {
  const encoded = Buffer.from(value).toString('base64');
  const bare = encoded.replace(/=+$/, '');
  return [encoded, bare, toUrlAlphabet(bare)];
}

/** Three bytes make four characters, so there are three ways; of each, what does not depend on the neighbours. */
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

function urlEscaped(value: string): string[] {
  const usual = encodeURIComponent(value);
  const strict = usual.replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const forms = [strict.replaceAll('%20', '+'), new URLSearchParams([['', value]]).toString().slice(1)];
  const all = Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('');
  // `encodeURI` leaves more as it is.
  const address = encodeURI(value);
  const upper = [usual, strict, ...forms, address, all];
  return [...upper, ...upper.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()))];
}

/** As most write it; with slashes escaped; safe to stand in HTML; each of them also in ASCII alone; and JSON in a text of JSON. */
function jsonEscaped(value: string): string[] {
  const usual = JSON.stringify(value).slice(1, -1);
  const forms = [usual, usual.replaceAll('/', '\\/'), usual.replaceAll(/[<>&']/g, unicodeEscape)];
  const ascii = forms.map((form) => form.replaceAll(/[^\0-\x7f]/g, unicodeEscape));
  const upper = ascii.map((form) => form.replaceAll(/\\u[0-9a-f]{4}/g, upperHex));
  return [...forms, ...ascii, ...upper, JSON.stringify(usual).slice(1, -1)];
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function upperHex(escape: string): string {
  return `\\u${escape.slice(2).toUpperCase()}`;
}

function htmlEscaped(value: string): string {
  const named: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return value.replaceAll(/[&<>"']/g, (mark) => named[mark]!);
}

function hex(value: string): string[] {
  const digits = Buffer.from(value).toString('hex');
  return [digits, digits.toUpperCase()];
}
