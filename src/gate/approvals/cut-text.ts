import { startOf } from '../../base/cut-text.ts';

/**
 * Cuts a text to `length` and marks the cut visibly. Texts are cut when a question is made: rejecting a question for its length would help
 * no caller and no approver.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const mark = `… (${text.length} characters)`;
  return `${startOf(text, Math.max(0, length - mark.length))}${mark}`.slice(0, length);
}
