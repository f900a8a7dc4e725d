import type { Identity } from '../../domain/identity/session.ts';

/** The same text is the same identity, so one frozen object serves all calls of a session. */
const known = new Map<string, Identity>();
const MAX_KNOWN = 16_384;

export function parseIdentity(text: string): Identity {
  const found = known.get(text);
  if (found !== undefined) return found;
  const identity = Object.freeze(JSON.parse(text) as Identity);
  // Tool code gets this shared object. If it could remove a delegator, later calls would be allowed more than they should.
  Object.freeze(identity.delegators);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(text, identity);
  return identity;
}
