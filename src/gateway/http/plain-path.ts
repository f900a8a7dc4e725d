const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
/** Percent-encoded slash, backslash, dot, percent sign or control character. */
const ENCODED_TRICK = /%(?:2f|5c|2e|25|[01][0-9a-f]|7f)/i;

/**
 * Whether a path means the same to every program that reads it: no empty, dot or double-encoded segments. Other paths are answered as not
 * found. They are never normalised, since then the path that is served would not be the path that was checked.
 */
export function isPlainPath(path: string): boolean {
  if (path === '/') return true;
  if (!path.startsWith('/')) return false;
  const [, ...segments] = path.split('/');
  // The router decides about a single slash at the end.
  if (segments.at(-1) === '') segments.pop();
  return segments.every(
    (segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..' && !ENCODED_TRICK.test(segment),
  );
}
