import { randomBytes, randomFillSync } from 'node:crypto';
import type { ApprovalId, GrantId } from '../domain/approval.ts';
import {
  parseScopedId,
  privatePool,
  type CallerId,
  type CallId,
  type RunId,
  type SessionId,
  type WorkerId,
} from '../domain/ids.ts';
import { keyDigest, laneOf, sha256, subjectScope } from './digest.ts';

const ID_BYTES = 16;
/** Fetched from the system for many ids at once: asking for 16 bytes each time costs more than the rest of an accept. */
const random = Buffer.allocUnsafe(ID_BYTES * 256);
let used = random.length;

/** 128 bits, 22 characters. */
export function randomId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const id = random.toString('base64url', used, used + ID_BYTES);
  used += ID_BYTES;
  return id;
}

export function newSessionId(tenant: string, subject: string, lanes: number): SessionId {
  const scope = subjectScope(tenant, subject);
  return `${laneOf(scope, lanes)}.${scope}.${randomId()}` as SessionId;
}

/** In the lane and scope of the call it is about, as the grant that may come of it. */
export function newApprovalId(callId: CallId): ApprovalId {
  return inScopeOf(callId) as ApprovalId;
}

export function newGrantId(approval: ApprovalId): GrantId {
  return inScopeOf(approval) as GrantId;
}

function inScopeOf(id: string): string {
  const scoped = parseScopedId(id);
  if (scoped === undefined) throw new TypeError('not a scoped id');
  return `${scoped.lane}.${scoped.scope}.${randomId()}`;
}

/** The call id is a function of the subject and the key, so looking up the key and looking up the call is one read. */
export function callIdFor(session: SessionId, key: string): CallId | undefined {
  const scope = scopeOf(session);
  return scope === undefined ? undefined : ((scope + keyDigest(key)) as CallId);
}

const MOST_SCOPES = 16_384;
const scopes = new Map<SessionId, string>();

/** `<lane>.<scope>.` of a session's id, which every call of the session needs. */
function scopeOf(session: SessionId): string | undefined {
  const known = scopes.get(session);
  if (known !== undefined) return known;
  const parsed = parseScopedId(session);
  if (parsed === undefined) return undefined;
  const scope = `${parsed.lane}.${parsed.scope}.`;
  if (scopes.size >= MOST_SCOPES) scopes.clear();
  scopes.set(session, scope);
  return scope;
}

export const newRunId = (): RunId => randomId() as RunId;
export const newCallerId = (): CallerId => randomId() as CallerId;
/** A digest: names of pools are shown to operators, and a caller's id opens its replies. */
export const privatePoolOf = (callerId: CallerId): string => privatePool(sha256(callerId).slice(0, 32));
export const newWorkerId = (): WorkerId => randomId() as WorkerId;
/** 256 bits. */
export const newToken = (): string => randomBytes(32).toString('base64url');

export function laneOfId(id: CallId | SessionId): number {
  return parseScopedId(id)?.lane ?? -1;
}
