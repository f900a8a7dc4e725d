import { isAdministrative, type AuditEvent } from '../../domain/audit/audit-record.ts';
import type { CallId, RunId, SessionId } from '../../domain/identity/ids.ts';
import type { AuditEntry } from '../../domain/ports/audit-store.ts';
import { unexpected } from './answers.ts';
import { readAudited } from './call-codec.ts';

export type About = Omit<AuditEntry, 'lane' | 'sequence' | 'at' | 'event' | 'detail'>;

/**
 * Decodes what an audit record is about. For a call, these bytes are the call's packed record. For an administrative event, they name a
 * session, the identity that a token's calls are made for, or (if empty) the deployment: see `about_session` in shared/session.lua. Throws
 * for bytes that no function has written.
 */
export function readAbout(event: AuditEvent, callId: string, bytes: Buffer): About {
  if (isAdministrative(event) !== (callId === '')) throw unexpected(`${event} of the call "${callId.slice(0, 100)}"`);
  return callId === '' ? readLines(bytes.toString('utf8')) : { callId: callId as CallId, ...readAudited(bytes) };
}

/** Reads session, run and identity, one line each; the first two may be empty. An empty text stands for the deployment. */
function readLines(text: string): About {
  if (text === '') return {};
  const [session, run, identity, ...more] = text.split('\n');
  if (identity === undefined || more.length > 0 || !isIdentity(identity)) throw unexpected(text.slice(0, 100));
  return {
    ...(session === '' ? {} : { session: session as SessionId }),
    ...(run === '' ? {} : { run: run as RunId }),
    identity,
  };
}

function isIdentity(text: string): boolean {
  const who = JSON.parse(text) as Record<string, unknown> | null;
  if (typeof who !== 'object' || who === null) return false;
  return [who['tenant'], who['subject'], who['agent']].every((each) => typeof each === 'string');
}
