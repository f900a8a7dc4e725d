import { randomBytes } from 'node:crypto';
import type { ApprovalId, GrantId } from '../policy/approval.ts';
import {
  parseScopedId,
  privatePool,
  type CallerId,
  type CallId,
  type RunId,
  type SessionId,
  type WorkerId,
} from './ids.ts';
import { UNATTENDED_RUN } from './unattended.ts';
import { agentsTag, keyDigest, keyOfAgents, laneOf, subjectScope, TAG_LENGTH } from '../tool/digest.ts';
import { sha256 } from '../../base/sha256.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { randomText } from './random-text.ts';

const ID_BYTES = 16;

/** 128 random bits as 22 characters. The first character is never a dash. */
export function randomId(): string {
  return randomText(ID_BYTES, 'base64url');
}

/**
 * The last character of a session id that contains a tag of its agents. Ids of earlier releases are 16 random bytes; their last character
 * is A, Q, g or w.
 */
const NAMES_AGENTS = 'x';

/**
 * With `agents` (the session's own agent, then those it acts for) the id contains their tag. Without, it has the format of earlier
 * releases.
 */
export function newSessionId(tenant: string, subject: string, lanes: number, agents?: readonly string[]): SessionId {
  const scope = subjectScope(tenant, subject);
  const random = randomId();
  const rest = agents === undefined ? random : agentsTag(agents) + random.slice(TAG_LENGTH, -1) + NAMES_AGENTS;
  return `${laneOf(scope, lanes)}.${scope}.${rest}` as SessionId;
}

/** An approval id in the lane and scope of its call; the id of a grant made from the approval is in the same lane and scope. */
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

/**
 * The id of the call that a session makes under a key. It is a function of subject, agents and key, so looking up the key and looking up
 * the call is one read. For a session of an earlier release, whose id has no agents' tag, it equals `askedCallId`.
 */
export function callIdFor(session: SessionId, key: string): CallId | undefined {
  const scope = scopeOf(session);
  if (scope === undefined) return undefined;
  const rest = keyDigest(key);
  return `${scope.prefix}${scope.tag === '' ? rest : ownRest(scope.tag, rest)}` as CallId;
}

/**
 * The id that a caller sends with `acceptCall`: made from the key alone, as in earlier releases. The store adds the tag of the session's
 * agents, and its answer contains the final call id. A generated key begins with that tag already, so its id does not change.
 */
export function askedCallId(session: SessionId, key: string): CallId | undefined {
  const scope = scopeOf(session);
  return scope === undefined ? undefined : (`${scope.prefix}${keyDigest(key)}` as CallId);
}

/** Generates a key for one call of this session. */
export function newKey(session: SessionId): string {
  const tag = scopeOf(session)?.tag ?? '';
  return tag === '' ? randomId() : tag + randomId().slice(TAG_LENGTH);
}

/**
 * The id that the store gives to a call, computed from the session's id. A session id of an earlier release contains no tag of its agents.
 * For such a session this returns `asked`, and the call may get a different id from the store.
 */
export function ownCallId(session: SessionId, asked: CallId): CallId {
  const tag = scopeOf(session)?.tag ?? '';
  return tag === '' ? asked : callIdOfAgents(tag, asked);
}

/** Makes the id `asked` begin with the tag of these agents, so that two agents that use the same key get two calls. */
export function callIdOfAgents(tag: string, asked: CallId): CallId {
  const restAt = asked.lastIndexOf('.') + 1;
  const rest = asked.slice(restAt);
  return rest.startsWith(tag) ? asked : ((asked.slice(0, restAt) + ownRest(tag, rest)) as CallId);
}

function ownRest(tag: string, rest: string): string {
  return rest.startsWith(tag) ? rest : tag + keyOfAgents(rest);
}

interface SessionScope {
  /** `<lane>.<scope>.` */
  readonly prefix: string;
  /** Empty for a session of an earlier release. */
  readonly tag: string;
}

/** Cache for the whole process: every call needs the parts of its session's id. */
const scopes = new BoundedCache<SessionId, SessionScope>(16_384);

function scopeOf(session: SessionId): SessionScope | undefined {
  const known = scopes.get(session);
  if (known !== undefined) return known;
  const parsed = parseScopedId(session);
  if (parsed === undefined) return undefined;
  const { lane, scope: subject, rest } = parsed;
  const tag = rest.endsWith(NAMES_AGENTS) ? rest.slice(0, TAG_LENGTH) : '';
  return scopes.set(session, { prefix: `${lane}.${subject}.`, tag });
}

interface RunIdOptions {
  readonly unattended?: boolean;
}

export const newRunId = ({ unattended = false }: RunIdOptions = {}): RunId =>
  `${unattended ? UNATTENDED_RUN : ''}${randomId()}` as RunId;
export const newCallerId = (): CallerId => randomId() as CallerId;
/** A digest, because pool names are shown to operators, and a caller's id gives access to its replies. */
export const privatePoolOf = (callerId: CallerId): string => privatePool(sha256(callerId).slice(0, 32));
export const newWorkerId = (): WorkerId => randomId() as WorkerId;
/** 256 random bits. */
export const newToken = (): string => randomBytes(32).toString('base64url');
