import type { Actor } from '../domain/actor.ts';
import { isSameSubject } from '../domain/agent.ts';
import type { ApprovalQuestion } from '../domain/approval.ts';
import type { SessionId } from '../domain/ids.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { Authenticated } from './authenticated.ts';

type Asked = Pick<ApprovalQuestion, 'identity' | 'session'>;

/**
 * Whether this bearer counts as the requester of a question, in whoever's name it decides:
 * - it calls for the question's subject itself (scope `agent`), or
 * - the session of the call was opened with this token. A token that opens sessions for any subject could otherwise make a call in
 *   the name of another subject and allow it. Or, for a token that decides by its own name, with a token of that name: tokens of one
 *   name are one principal.
 */
export type IsRequester = (bearer: Authenticated, question: Asked) => Promise<boolean>;

const MAX_KNOWN = 10_000;

export function createRequesters(store: Pick<SessionStore, 'readSession'>): IsRequester {
  /** Who opened a session does not change. */
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
    // Without a token it was opened by a program or at the command line: whoever can do that holds the store's credentials.
    if (opener?.bearer === undefined) return false;
    if (opener.bearer === id) return true;
    return decidesAs === undefined && opener.by.slice(opener.by.indexOf(' ') + 1) === name;
  };
}
