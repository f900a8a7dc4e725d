import { APPROVAL_LIMITS, type Principal } from '../domain/policy/approval.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { Identity, SessionHandle } from '../domain/identity/session.ts';
import type { SessionProof, SessionReader } from '../domain/ports/session-store.ts';
import { sha256 } from '../base/sha256.ts';
import { hasLoneSurrogate } from '../base/well-formed.ts';

/**
 * The person or session that lists and decides approvals. A `session` proves itself with its token. The other kinds are not checked here:
 * the trusted side has already established who they are, by its own login or because they hold the store's credentials.
 */
export type Approver = Principal | { readonly kind: 'session'; readonly session: Pick<SessionHandle, 'id' | 'token'> };

type Sessions = SessionProof & SessionReader;

/** The principal that lists or decides approvals. */
export interface Viewer {
  readonly principal: Principal;
  /** The session's identity; set only if the viewer is a session. Agents of one subject do not see each other's questions and grants. */
  readonly identity?: Identity;
}

export async function toViewer(store: Sessions, approver: Approver): Promise<Viewer> {
  if (approver.kind === 'session') return ofSession(store, approver.session);
  return { principal: toPrincipal(approver) };
}

function toPrincipal(approver: Principal): Principal {
  const { kind, name } = approver;
  const isText = typeof name === 'string' && name !== '' && name.length <= APPROVAL_LIMITS.principalLength;
  if (!isText || /\p{Cc}/u.test(name) || hasLoneSurrogate(name))
    throw refused('its name is empty, too long or not text');
  if (kind === 'operator') return { kind, name };
  if (kind === 'subject' && /^[^/]+\/./.test(name)) return { kind, name };
  throw refused('a subject is named TENANT/SUBJECT');
}

async function ofSession(store: Sessions, { id, token }: Pick<SessionHandle, 'id' | 'token'>): Promise<Viewer> {
  const ending = await store.proveSession({ session: id, tokenDigest: sha256(token) });
  const session = ending === undefined ? await store.readSession(id) : undefined;
  if (session === undefined) {
    const problem = ending === undefined || ending === 'unknown' ? 'there is no such session' : `it is ${ending}`;
    throw planeError('SESSION_INVALID', { problem });
  }
  const { identity } = session;
  return { principal: { kind: 'subject', name: `${identity.tenant}/${identity.subject}` }, identity };
}

function refused(problem: string): Error {
  return planeError('APPROVAL_INVALID', { problem: `who decides: ${problem}` });
}
