import { escapeHidden } from '../../base/escape-text.ts';
import { findHiddenCharacter } from '../../modules/authoring/shown-text.ts';

/** How often a kind of hidden character is in a text. */
export interface HiddenCount {
  /** For example `a zero-width character`. */
  readonly what: string;
  readonly count: number;
}

/** All characters that may be hidden. Tabs and line breaks are usual in descriptions. */
const CANDIDATES = /[^\n\t -~]/gu;
const BLANK = /[\s\u2800]/u;

/**
 * A text of a server for people: hidden characters are escaped, line breaks stay. A backslash that would look like the beginning of such an
 * escape is escaped too, so an escape in the shown text always stands for a hidden character.
 */
export function showText(text: string): string {
  return escapeHidden(text.replaceAll('\\u{', '\\u{5c}u{'), true);
}

/** Counts the hidden characters in a text by their kind, in the order in which the kinds first appear. */
export function countHidden(text: string): HiddenCount[] {
  if (escapeHidden(text) === text) return [];
  const counts = new Map<string, number>();
  // Windows ends lines with CR LF. Such a CR hides nothing.
  for (const [character] of text.replaceAll('\r\n', '\n').matchAll(CANDIDATES)) {
    if (escapeHidden(character) === character) continue;
    const what = nameHidden(character);
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return Array.from(counts, ([what, count]) => ({ what, count }));
}

function nameHidden(character: string): string {
  if (/[\ufe0e\ufe0f]/u.test(character)) return 'a variation selector';
  const name = findHiddenCharacter(character);
  return name ?? (BLANK.test(character) ? 'a blank that is not a plain space' : 'an invisible character');
}
