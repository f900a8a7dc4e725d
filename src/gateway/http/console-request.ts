import type { IncomingMessage } from 'node:http';
import { planeError } from '../../domain/errors/errors.ts';

const COOKIE_NAME = '__Host-sallyport';
/** A page of another site cannot send this header without a CORS preflight, and the gateway allows none. */
const CONSOLE_HEADER = 'sallyport-console';
/** `c`: the token was made for this login, and ends with it. `t`: a person pasted a token, which outlives the login. */
const COOKIE_VALUE = /^([ct])~(spt_[A-Za-z0-9_-]+)$/;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export interface CookieToken {
  readonly text: string;
  readonly madeForLogin: boolean;
}

/**
 * Reads the console's cookie. Returns undefined if there are two of them: a neighbouring site may have planted one, and the gateway cannot
 * tell which.
 */
export function readCookie(header: string | undefined): CookieToken | undefined {
  const found = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${COOKIE_NAME}=`));
  const match = found.length === 1 ? COOKIE_VALUE.exec(found[0]!.slice(COOKIE_NAME.length + 1)) : null;
  return match === null ? undefined : { text: match[2]!, madeForLogin: match[1] === 'c' };
}

export function writeCookie({ text, madeForLogin }: CookieToken, lifetimeMs: number): string {
  return cookieOf(`${madeForLogin ? 'c' : 't'}~${text}`, Math.floor(lifetimeMs / 1000));
}

export const EXPIRED_COOKIE = cookieOf('', 0);

function cookieOf(value: string, maxAge: number): string {
  return `${COOKIE_NAME}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; Secure; SameSite=Strict`;
}

/**
 * Checks that a request with the cookie comes from the console. A browser adds cookies to everything that any page makes it send. SameSite
 * is not enough: another port of this machine is the same site.
 */
export function checkConsoleRequest({ method = '', headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (SAFE_METHODS.has(method)) {
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refused('it comes from another origin');
    return;
  }
  checkConsoleChange(headers);
}

/** The check for every request that changes something, and for logins: a foreign page must not even choose who is logged in. */
export function checkConsoleChange(headers: IncomingMessage['headers']): void {
  // Some browsers do not send this header. All of them send Origin with such a request, and no page can change it.
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw refused('it comes from another origin');
  // Only its presence is checked here: the guard has checked its value.
  if (headers.origin === undefined) throw refused('it has no Origin');
  if (headers[CONSOLE_HEADER] !== '1') throw refused('it lacks the header Sallyport-Console: 1');
  if (!/^application\/json(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw refused('its Content-Type is not application/json');
  }
}

function refused(problem: string): Error {
  return planeError('CONSOLE_REQUEST_REFUSED', { problem });
}
