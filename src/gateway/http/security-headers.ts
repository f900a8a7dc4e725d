import type { ServerResponse } from 'node:http';

/** Content security policy of the console's pages: code and styles only from this origin, no markup made from text, and no framing. */
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

/** Policy of every other response. None of them is a page; if one is opened as a page, it may do nothing. */
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

/**
 * Sets the security headers of every response, refusals included. Routes that need other values replace them. No response has CORS headers.
 */
export function setSecurityHeaders(outgoing: ServerResponse): void {
  for (const [name, value] of HEADERS) outgoing.setHeader(name, value);
}
