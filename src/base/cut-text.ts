const FIRST_HALF_AT_END = /[\uD800-\uDBFF]$/;
const SECOND_HALF_AT_START = /^[\uDC00-\uDFFF]/;

/** The first `length` UTF-16 units, or one less, so that a surrogate pair is never cut in two: UTF-8 cannot encode half of one. */
export function startOf(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(FIRST_HALF_AT_END, '');
}

/** The last `length` UTF-16 units, or one less, so that a surrogate pair is never cut in two. */
export function endOf(text: string, length: number): string {
  return text.length <= length ? text : text.slice(-length).replace(SECOND_HALF_AT_START, '');
}

/** A text of at most `length` UTF-16 units, which ends with an ellipsis if it was cut. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${startOf(text, length - 1)}…`;
}
