import type { IncomingMessage } from 'node:http';
import { planeError } from '../../domain/errors.ts';

export const COOKIE_NAME = '__Host-sallyport';
/** Pages of other sites cannot send it without asking first, and nobody is answered who asks. */
const CONSOLE_HEADER = 'sallyport-console';
/** `c`: the token was made for this login, and ends with it. `t`: a token somebody pasted, which has a life of its own. */
const COOKIE_VALUE = /^([ct])~(spt_[A-Za-z0-9_-]+)$/;
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

export interface CookieToken {
  readonly text: string;
  readonly madeForLogin: boolean;
}

/** Undefined also for two of them: one may have been planted by a neighbour, and nobody can tell which. */
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
 * Cookies come by themselves with whatever a page makes the browser send, so a request with one must be shown to come from the console.
 * SameSite does not do: another port of this machine is the same site.
 */
export function checkConsoleRequest({ method = '', headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (SAFE_METHODS.has(method)) {
    if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refused('it comes from another origin');
    return;
  }
  checkConsoleChange(headers);
}

/** For everything that changes something, and for logins: a foreign page must not even choose who is logged in. */
export function checkConsoleChange(headers: IncomingMessage['headers']): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') throw refused('it comes from another origin');
  // The guard has checked its value.
  if (headers.origin === undefined) throw refused('it has no Origin');
  if (headers[CONSOLE_HEADER] !== '1') throw refused('it lacks the header Sallyport-Console: 1');
  if (!/^application\/json(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw refused('its Content-Type is not application/json');
  }
}

function refused(problem: string): Error {
  return planeError('CONSOLE_REQUEST_REFUSED', { problem });
}
