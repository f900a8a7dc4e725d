import type { Actor } from '../domain/identity/actor.ts';
import { isSameSubject } from '../domain/identity/agent.ts';
import type { ApprovalQuestion } from '../domain/policy/approval.ts';
import type { SessionId } from '../domain/identity/ids.ts';
import type { SessionReader } from '../domain/ports/session-store.ts';
import type { Authenticated } from './authenticated.ts';

type Asked = Pick<ApprovalQuestion, 'identity' | 'session'>;

/**
 * Whether this bearer counts as the requester of a question, no matter in whose name it decides. It does in either of two cases:
 * - The bearer itself calls for the question's subject (scope `agent`).
 * - The session of the call was opened with this token. Otherwise a token that opens sessions for any subject could make a call in the name
 *   of another subject and then allow it. For a token that decides in its own name, a session opened with any token of the same name counts
 *   too: tokens of one name are one principal.
 */
export type IsRequester = (bearer: Authenticated, question: Asked) => Promise<boolean>;

const MAX_KNOWN = 10_000;

export function createRequesters(store: SessionReader): IsRequester {
  /** Cache of who opened each session. The opener of a session never changes. */
  const openers = new Map<SessionId, Actor | undefined>();

  async function openerOf(session: SessionId): Promise<Actor | undefined> {
    if (openers.has(session)) return openers.get(session);
    const found = await store.readSession(session);
    if (found === undefined) return undefined;
    if (openers.size >= MAX_KNOWN) openers.clear();
    openers.set(session, found.openedBy);
    return found.openedBy;
  }

  return async ({ id, name, identity, decidesAs }, question) => {
    if (identity !== undefined && isSameSubject(identity, question.identity)) return true;
    const opener = await openerOf(question.session);
    // The session was opened without a token, by a program or at the command line. That needs the store's credentials.
    if (opener?.bearer === undefined) return false;
    if (opener.bearer === id) return true;
    return decidesAs === undefined && opener.by.slice(opener.by.indexOf(' ') + 1) === name;
  };
}
