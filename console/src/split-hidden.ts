export interface TextPart {
  readonly kind: 'plain' | 'hidden';
  readonly text: string;
}

/**
 * Everything that acts on the text around it, looks like nothing, or looks like a plain space. The attack: a path whose dangerous part
 * is in letters nobody sees, or is shown in another order than it is read.
 */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]+/gu;
const HIDDEN_BUT_LINES =
  /(?:(?![\n\t])[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000])+/gu;

/** The text in its order, with what cannot be seen spelled out in parts of its own. */
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
