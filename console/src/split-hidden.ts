export interface TextPart {
  readonly kind: 'plain' | 'hidden';
  readonly text: string;
}

/**
 * All characters that act on the text around them, are invisible, or look like a plain space. The attack: a path hides its dangerous part
 * in invisible characters, or shows it in another order than it is read.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]+/gu;
const HIDDEN_BUT_LINES =
  /(?:(?![\n\t])[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000])+/gu;

/** Splits the text, in its order. Each run of invisible characters becomes its own part, spelled out. */
export function splitHidden(text: string, keepLines: boolean): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(keepLines ? HIDDEN_BUT_LINES : HIDDEN)) {
    if (match.index > from) parts.push({ kind: 'plain', text: text.slice(from, match.index) });
    parts.push({ kind: 'hidden', text: spell(match[0]) });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ kind: 'plain', text: text.slice(from) });
  return parts;
}

function spell(characters: string): string {
  return Array.from(characters, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`).join('');
}
