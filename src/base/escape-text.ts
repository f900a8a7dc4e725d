/**
 * Characters that control a terminal instead of being shown, or that are invisible. The attack: a tool's result that clears the screen,
 * writes the clipboard (OSC 52), or shows its text in another order than it is read.
 */
const ACTING = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2060-\u206f\u{e0000}-\u{e0fff}]/gu;
const ACTING_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2060-\u206f\u{e0000}-\u{e0fff}]/gu;

/** Escapes untrusted text for a terminal. Line breaks and tabs stay. */
export function escapeText(text: string): string {
  return text.replaceAll(ACTING, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}

/** Escapes untrusted text for one line of a terminal: all white space becomes single spaces. */
export function escapeLine(text: string): string {
  return escapeText(text.replaceAll(/\s+/gu, ' ').trim());
}

/** JSON with the same meaning that contains nothing a terminal would act on. */
export function toSafeJson(value: unknown): string {
  const json = JSON.stringify(value, (_, member: unknown) => plainBytes(member), 2) ?? 'null';
  return escapeJson(json);
}

/** Escapes text that is already JSON in the same way as `toSafeJson`. */
export function escapeJson(json: string): string {
  return json.replaceAll(ACTING_IN_JSON, toUnits);
}

function toUnits(character: string): string {
  const units = character.split('');
  return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

function plainBytes(member: unknown): unknown {
  return member instanceof Uint8Array ? Buffer.from(member).toString('base64') : member;
}

/**
 * Characters that an approver must not overlook: those that control a terminal, and all that are invisible or look like a plain space. The
 * attack: `rm -rf ~ ` with the rest of the path in invisible letters.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\ufffc\u{16fe4}\u{1d159}]/gu;

/** Escapes all hidden characters; line breaks stay if `keepLines` is set. */
export function escapeHidden(text: string, keepLines = false): string {
  return text.replaceAll(HIDDEN, (character) =>
    keepLines && character === '\n' ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** A JSON string with all hidden characters escaped. Its meaning is unchanged. */
export function toVisibleJsonString(text: string): string {
  return JSON.stringify(text).replaceAll(HIDDEN, toUnits);
}
