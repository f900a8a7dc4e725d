const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
/** Encoded: a slash, a backslash, a dot, a percent sign, a control character. */
const ENCODED_TRICK = /%(?:2f|5c|2e|25|[01][0-9a-f]|7f)/i;

/**
 * Whether a path means the same to everybody who reads it: no empty, dot or double-encoded segments. Others are not found; they are never
 * brought into shape, since what was checked would then not be what is served.
 */
export function isPlainPath(path: string): boolean {
  if (path === '/') return true;
  if (!path.startsWith('/')) return false;
  const [, ...segments] = path.split('/');
  // A single slash at the end is for the router to judge.
  if (segments.at(-1) === '') segments.pop();
  return segments.every(
    (segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..' && !ENCODED_TRICK.test(segment),
  );
}
