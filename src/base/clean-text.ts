/** Runs of white space and of characters that could break the line, hide a part of it, or control a terminal. */
const GAPS = /[\s\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
// Escape sequences and line breaks: a log line must not repaint the operator's terminal or look like two lines.
const UNPRINTABLE = /(?!\t)[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** The text in one printable line, with single spaces. */
export function inOneLine(text: string): string {
  return text.replaceAll(GAPS, ' ').trim();
}

/** The text with U+FFFD in place of each character that must not stand in a log line. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\uFFFD');
}
