import type { Identity } from '../../domain/identity/session.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';

/** One for the process. The same text is the same identity, so one frozen object serves all calls of a session. */
const identities = new BoundedCache<string, Identity>(16_384);

export function parseIdentity(text: string): Identity {
  return identities.getOrMake(text, parse);
}

function parse(text: string): Identity {
  const identity = Object.freeze(JSON.parse(text) as Identity);
  // Tool code gets this shared object. If it could remove a delegator, later calls would be allowed more than they should.
  Object.freeze(identity.delegators);
  return identity;
}
