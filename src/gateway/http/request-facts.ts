import type { IncomingMessage } from 'node:http';

/** What the guard found out about a request, for those who see it later. */
export interface RequestFacts {
  readonly requestId: string;
  readonly address: string;
  /** By `performance.now()`. */
  readonly cameAt: number;
}

const facts = new WeakMap<IncomingMessage, RequestFacts>();

export function keepFacts(incoming: IncomingMessage, known: RequestFacts): void {
  facts.set(incoming, known);
}

export function factsOf(incoming: IncomingMessage): RequestFacts {
  const known = facts.get(incoming);
  // Nothing is served that the guard has not seen.
  if (known === undefined) throw new TypeError('this request passed no guard');
  return known;
}

/** Whether one was announced; it need not have arrived. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** What has not been read of a body would be taken for the next request. */
export function mustClose(incoming: IncomingMessage): boolean {
  return hasBody(incoming) && !incoming.complete;
}

/** All of them: of some headers Node keeps only the first, and a proxy in front may have looked at another. */
export function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name);
}
