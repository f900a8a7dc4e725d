import type { PublishedTool } from '../domain/tool/catalog.ts';
import { parseScopedId, type CallId, type RunId, type SessionId } from '../domain/identity/ids.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { Identity, SessionHandle } from '../domain/identity/session.ts';
import type { CallProof } from '../domain/ports/call-requests.ts';
import type { SessionReader } from '../domain/ports/session-store.ts';
import { envelopeHead } from '../domain/call/envelope-text.ts';
import { sha256 } from '../base/sha256.ts';

export type Caller = Pick<SessionHandle, 'id' | 'token' | 'run'>;

/** Data shared by all calls of a session, computed once. The token itself never leaves the process; only its digest is sent. */
export interface KnownSession {
  readonly id: SessionId;
  readonly run: RunId;
  readonly token: string;
  readonly proof: CallProof & { readonly kind: 'token' };
  /** -1 if the session id is malformed. */
  readonly lane: number;
  readonly heads: Map<PublishedTool, string | undefined>;
}

const MAX_KNOWN = 16_384;
/** Max cached envelope heads per session. Catalogs get replaced; without a limit, heads of removed tools would accumulate. */
const MAX_HEADS = 64;

export function createKnownSessions(): (session: Caller) => KnownSession {
  const known = new Map<SessionId, KnownSession>();
  return (session) => {
    const found = known.get(session.id);
    if (found !== undefined && found.token === session.token && found.run === session.run) return found;
    if (known.size >= MAX_KNOWN) known.clear();
    const made = toKnown(session);
    known.set(session.id, made);
    return made;
  };
}

/** Returns a function that finds the identity a session calls for. Each identity is read once, because it never changes. */
export function createIdentities(store: SessionReader): (session: SessionId) => Promise<Identity> {
  const known = new Map<SessionId, Identity>();
  return async (session) => {
    const found = known.get(session);
    if (found !== undefined) return found;
    const record = await store.readSession(session);
    if (record === undefined) throw planeError('SESSION_INVALID', { problem: 'there is no such session' });
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(session, record.identity);
    return record.identity;
  };
}

function toKnown({ id, run, token }: Caller): KnownSession {
  const proof = { kind: 'token', tokenDigest: sha256(token) } as const;
  return { id, run, token, proof, lane: parseScopedId(id)?.lane ?? -1, heads: new Map() };
}

export function headOf(session: KnownSession, tool: PublishedTool): string | undefined {
  const { heads } = session;
  let head = heads.get(tool);
  if (head === undefined && !heads.has(tool)) {
    if (heads.size >= MAX_HEADS) heads.clear();
    head = envelopeHead(session.id, session.run, tool.tool.id, tool.tool.digest);
    heads.set(tool, head);
  }
  return head;
}

/**
 * Returns the id if its lane and scope show that it can be a call of the session's own subject. Whether such a call exists, only the store
 * knows.
 */
export function findOwnCall(session: Caller, callId: string): CallId | undefined {
  const [own, asked] = [parseScopedId(session.id), parseScopedId(callId)];
  if (own === undefined || asked === undefined) return undefined;
  return own.lane === asked.lane && own.scope === asked.scope ? (callId as CallId) : undefined;
}
