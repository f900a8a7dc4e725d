import type { Actor } from '../domain/identity/actor.ts';
import { agentsOf } from '../domain/identity/agent.ts';
import { planeError } from '../domain/errors/errors.ts';
import { DELEGATOR_ENDED, type Identity, type SessionHandle } from '../domain/identity/session.ts';
import { isUnattendedRun } from '../domain/identity/unattended.ts';
import type { SessionOpening, SessionProof, SessionReader } from '../domain/ports/session-store.ts';
import type { StoreLanes } from '../domain/ports/store.ts';
import { suggestName } from '../base/near-names.ts';
import { sha256 } from '../base/sha256.ts';
import { hasLoneSurrogate } from '../base/well-formed.ts';
import { newRunId, newSessionId, newToken } from '../domain/identity/new-id.ts';

export interface OpenSessionOptions extends Omit<Identity, 'tenant' | 'delegators' | 'unattended'> {
  readonly tenant?: string;
  /**
   * The session of the delegating agent. The new session is for the same subject, has at most the rights that this agent and its own
   * delegators have, and ends with that session. It is unattended if that session is, or if `run` is an unattended run.
   */
  readonly delegatedBy?: Pick<SessionHandle, 'id' | 'token'> & Partial<Pick<SessionHandle, 'run'>>;
  /** No person watches this session: a call that would need an approval ends at once with APPROVAL_DENIED_AT_ONCE. Applies to all its runs. */
  readonly unattended?: boolean;
  /** Default: one hour. */
  readonly lifetimeMs?: number;
  /** The session ends after this long without a call or a touch. Default: its lifetime. */
  readonly idleMs?: number;
}

export const DEFAULT_LIFETIME_MS = 60 * 60 * 1000;
const MAX_LIFETIME_MS = 30 * 24 * 60 * 60 * 1000;
const FIELDS = ['tenant', 'subject', 'agent', 'channel', 'space', 'platform'] as const;
const OPTIONS: readonly string[] = [...FIELDS, 'delegatedBy', 'unattended', 'lifetimeMs', 'idleMs'];
const MAX_LENGTH = 256;
const MAX_DELEGATORS = 8;
const UNATTENDED = { unattended: true } as const;

/** For the trusted side only: the caller that opens a session decides which subject its calls are made for. */
export async function openSession(
  store: SessionOpening & SessionProof & SessionReader & StoreLanes,
  options: OpenSessionOptions,
  actor: Actor,
): Promise<SessionHandle> {
  const identity = await withDelegators(store, toIdentity(options), options.delegatedBy);
  const lifetimeMs = checkDuration('lifetimeMs', options.lifetimeMs ?? DEFAULT_LIFETIME_MS);
  const idleMs = checkDuration('idleMs', options.idleMs ?? lifetimeMs);
  const token = newToken();
  const handle = {
    id: newSessionId(identity.tenant, identity.subject, store.lanes, agentsOf(identity)),
    token,
    run: newRunId(),
  };
  const { id, run } = handle;
  const { expiresAt } = await store.openSession({
    id,
    run,
    identity,
    tokenDigest: sha256(token),
    lifetimeMs,
    idleMs,
    actor,
    ...(options.delegatedBy === undefined ? {} : { delegatedBy: options.delegatedBy.id }),
  });
  return { ...handle, expiresAt };
}

async function withDelegators(
  store: SessionProof & SessionReader,
  identity: Identity,
  delegatedBy: OpenSessionOptions['delegatedBy'],
): Promise<Identity> {
  if (delegatedBy === undefined) return identity;
  const ending = await store.proveSession({ session: delegatedBy.id, tokenDigest: sha256(delegatedBy.token) });
  const parent = ending === undefined ? await store.readSession(delegatedBy.id) : undefined;
  if (parent === undefined) {
    throw planeError('SESSION_INVALID', { problem: DELEGATOR_ENDED });
  }
  // Permissions belong to the subject. With another subject, a delegate could do what its delegator may not.
  if (parent.identity.tenant !== identity.tenant || parent.identity.subject !== identity.subject) {
    throw planeError('SESSION_INVALID', { problem: 'a delegate acts for the subject of the session that delegates' });
  }
  const delegators = [parent.identity.agent, ...(parent.identity.delegators ?? [])];
  if (delegators.length > MAX_DELEGATORS) {
    throw planeError('SESSION_INVALID', { problem: `agents may delegate at most ${MAX_DELEGATORS} times in a row` });
  }
  // A delegate has at most the rights of its delegator: if no person watches the delegator, no person is asked for the delegate either.
  const isUnattended = parent.identity.unattended === true || isUnattendedRun(delegatedBy.run ?? '');
  return { ...identity, delegators, ...(isUnattended ? UNATTENDED : {}) };
}

function toIdentity(options: OpenSessionOptions): Identity {
  refuseUnknown(options, OPTIONS);
  const given: Record<string, unknown> = { tenant: 'default', ...options };
  const identity: Record<string, string> = {};
  for (const field of FIELDS) {
    const value = given[field];
    const required = field === 'tenant' || field === 'subject' || field === 'agent';
    if (value === undefined && !required) continue;
    if (typeof value !== 'string' || value.length === 0 || value.length > MAX_LENGTH || hasControlCharacter(value)) {
      const problem = `${field} must be text of 1 to ${MAX_LENGTH} characters without control characters`;
      throw planeError('SESSION_INVALID', { problem });
    }
    if (field === 'tenant' && value.includes('/')) {
      throw planeError('SESSION_INVALID', { problem: 'tenant must not contain a slash' });
    }
    identity[field] = value;
  }
  const { unattended = false } = given;
  // Reject any value that is not a boolean: the caller may mean `true` by it, and ignoring it would open an attended session.
  if (typeof unattended !== 'boolean')
    throw planeError('SESSION_INVALID', { problem: 'unattended must be true or false' });
  return { ...(identity as unknown as Identity), ...(unattended ? UNATTENDED : {}) };
}

/** If a misspelt `unattended` were ignored, a person would be asked, and the calls of a nightly job would wait for an answer. */
export function refuseUnknown(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const problem = `there is no option "${unknown.slice(0, 40)}"; ${suggestName(unknown, known)}`;
  throw planeError('SESSION_INVALID', { problem });
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text) || hasLoneSurrogate(text);
}

function checkDuration(name: string, ms: number): number {
  if (Number.isInteger(ms) && ms >= 1 && ms <= MAX_LIFETIME_MS) return ms;
  throw planeError('SESSION_INVALID', { problem: `${name} must be a whole number from 1 to ${MAX_LIFETIME_MS}` });
}
