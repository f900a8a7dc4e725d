import type { IncomingMessage } from 'node:http';

/** What the guard found out about a request, for those who see it later. */
export interface RequestFacts {
  readonly requestId: string;
  readonly address: string;
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
