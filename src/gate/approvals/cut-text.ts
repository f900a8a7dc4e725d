/**
 * Cuts a text to `length` and marks the cut visibly. Texts are cut when a question is made: rejecting a question for its length would help
 * no caller and no approver.
 */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const mark = `… (${text.length} characters)`;
  const kept = text.slice(0, Math.max(0, length - mark.length));
  return `${withoutHalf(kept)}${mark}`.slice(0, length);
}

/** Drops the first half of a surrogate pair at the end: a cut between the two halves would leave half a character. */
function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
