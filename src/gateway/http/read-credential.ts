import type { IncomingMessage } from 'node:http';
import { readCookie } from './console-request.ts';
import { valuesOf } from './request-facts.ts';

export interface Credential {
  readonly via: 'bearer' | 'cookie';
  readonly text: string;
}

/** The header counts alone when it is there: a page cannot set it, so nothing else has to be asked of the request. */
export function readCredential(incoming: IncomingMessage): Credential | undefined {
  const [authorization, ...more] = valuesOf(incoming, 'authorization');
  if (authorization !== undefined) {
    const text = more.length > 0 ? undefined : /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
    return text === undefined ? undefined : { via: 'bearer', text };
  }
  const cookie = readCookie(incoming.headers.cookie);
  return cookie === undefined ? undefined : { via: 'cookie', text: cookie.text };
}
