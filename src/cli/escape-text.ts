/**
 * Characters that act on a terminal instead of being shown, or that nobody sees. The attack: a tool's result that clears the
 * screen, writes the clipboard (OSC 52), or shows its text in another order than it is read.
 */
const ACTING = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2060-\u206f\u{e0000}-\u{e0fff}]/gu;
const ACTING_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2060-\u206f\u{e0000}-\u{e0fff}]/gu;

/** Untrusted text, fit for a terminal. Line breaks and tabs stay. */
export function escapeText(text: string): string {
  return text.replaceAll(ACTING, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** The same for one line. */
export function escapeLine(text: string): string {
  return escapeText(text.replaceAll(/\s+/gu, ' ').trim());
}

/** JSON that means the same and holds nothing a terminal would act on. */
export function toSafeJson(value: unknown): string {
  const json = JSON.stringify(value, (_, member: unknown) => plainBytes(member), 2) ?? 'null';
  return json.replaceAll(ACTING_IN_JSON, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function plainBytes(member: unknown): unknown {
  return member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member;
}
