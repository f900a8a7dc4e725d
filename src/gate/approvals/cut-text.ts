/** Cut where it is made, and so that everybody sees it: a question that is refused for its length helps nobody. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const mark = `… (${text.length} characters)`;
  const kept = text.slice(0, Math.max(0, length - mark.length));
  return `${withoutHalf(kept)}${mark}`.slice(0, length);
}

/** A cut through a pair of surrogates would leave half a character. */
function withoutHalf(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
