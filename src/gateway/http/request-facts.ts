import type { IncomingMessage } from 'node:http';

/** What the guard learned about a request, for the code that handles it later. */
export interface RequestFacts {
  readonly requestId: string;
  readonly address: string;
  /** When the request arrived, by `performance.now()`. */
  readonly cameAt: number;
}

/** The facts of each request, released together with it. */
const facts = new WeakMap<IncomingMessage, RequestFacts>();

export function keepFacts(incoming: IncomingMessage, known: RequestFacts): void {
  facts.set(incoming, known);
}

export function factsOf(incoming: IncomingMessage): RequestFacts {
  const known = facts.get(incoming);
  // Every request that is served has passed the guard.
  if (known === undefined) throw new TypeError('this request passed no guard');
  return known;
}

/** Whether a body was announced. It need not have arrived. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Whether the connection must be closed after the response: unread bytes of a body would be parsed as the next request. */
export function mustClose(incoming: IncomingMessage): boolean {
  return hasBody(incoming) && !incoming.complete;
}

/** All values of a header. Node keeps only the first value of some headers, and a proxy in front may have looked at another one. */
export function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name);
}
