import type { IncomingMessage } from 'node:http';
import { readCookie } from './console-request.ts';
import { valuesOf } from './request-facts.ts';

export interface Credential {
  readonly via: 'bearer' | 'cookie';
  readonly text: string;
}

/**
 * Reads the credential of a request. If there is an Authorization header, only that counts. A page of another site cannot set it, so a
 * request with it needs no check of where it comes from.
 */
export function readCredential(incoming: IncomingMessage): Credential | undefined {
  const [authorization, ...more] = valuesOf(incoming, 'authorization');
  if (authorization !== undefined) {
    const text = more.length > 0 ? undefined : /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
    return text === undefined ? undefined : { via: 'bearer', text };
  }
  const cookie = readCookie(incoming.headers.cookie);
  return cookie === undefined ? undefined : { via: 'cookie', text: cookie.text };
}
