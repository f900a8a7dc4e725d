import { randomBytes } from 'node:crypto';
import { parseScopedId, type CallerId, type CallId, type RunId, type SessionId, type WorkerId } from '../domain/ids.ts';
import { keyDigest, laneOf, subjectScope } from './digest.ts';

/** 128 bits, 22 characters. */
export function randomId(): string {
  return randomBytes(16).toString('base64url');
}

export function newSessionId(tenant: string, subject: string, lanes: number): SessionId {
  const scope = subjectScope(tenant, subject);
  return `${laneOf(scope, lanes)}.${scope}.${randomId()}` as SessionId;
}

/** The call id is a function of the subject and the key, so looking up the key and looking up the call is one read. */
export function callIdFor(session: SessionId, key: string): CallId | undefined {
  const parsed = parseScopedId(session);
  return parsed === undefined ? undefined : (`${parsed.lane}.${parsed.scope}.${keyDigest(key)}` as CallId);
}

export const newRunId = (): RunId => randomId() as RunId;
export const newCallerId = (): CallerId => randomId() as CallerId;
export const newWorkerId = (): WorkerId => randomId() as WorkerId;
/** 256 bits. */
export const newToken = (): string => randomBytes(32).toString('base64url');

export function laneOfId(id: CallId | SessionId): number {
  return parseScopedId(id)?.lane ?? -1;
}
