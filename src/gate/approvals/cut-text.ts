import { startOf } from '../../base/cut-text.ts';

/**
 * Cuts a text to `length` characters and adds a visible mark with its full length. A text that is too long is cut when the question is
 * made. If the question were rejected instead, no approver would ever see it.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const mark = `… (${text.length} characters)`;
  return `${startOf(text, Math.max(0, length - mark.length))}${mark}`.slice(0, length);
}
