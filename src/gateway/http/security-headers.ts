import type { ServerResponse } from 'node:http';

/** Pages of the console: code and styles from here only, no markup from text, and nobody frames it. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** Everything else is no page; opened as one, it may do nothing. */
const NO_PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

const HEADERS: readonly (readonly [string, string])[] = [
  ['content-security-policy', NO_PAGE_POLICY],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cache-control', 'no-store'],
];

/** On every answer, refusals included; routes that know better replace theirs. There are no CORS headers anywhere. */
export function setSecurityHeaders(outgoing: ServerResponse): void {
  for (const [name, value] of HEADERS) outgoing.setHeader(name, value);
}
