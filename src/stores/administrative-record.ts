import type { Administered } from '../domain/identity/actor.ts';
import { AUDIT_LIMITS, type AdministrativeEvent, type AdministrativeFacts } from '../domain/audit/audit-record.ts';
import type { GatewayToken, LoginPurpose } from '../domain/identity/gateway-token.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { Identity } from '../domain/identity/session.ts';
import type { WithdrawModulesRequest } from '../domain/ports/catalog-store.ts';
import type { WritePinsRequest } from '../domain/ports/pin-store.ts';
import type { OpenSessionRequest } from '../domain/ports/session-store.ts';
import type { CreateTokenRequest, RecordLoginRequest } from '../domain/ports/token-store.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { sha256 } from '../base/sha256.ts';
import { encode } from '../base/message-pack.ts';
import { boundedChanges, findPolicyChanges } from './policy-changes.ts';
import { shorten } from '../base/cut-text.ts';

/** The audit record of an administrative change. The store writes it in the same atomic step as the change. Both stores write the same record. */
export interface AdministrativeRecord {
  readonly event: AdministrativeEvent;
  readonly detail: Uint8Array;
  /** The identity of the session, or the identity that a token's calls are made for. */
  readonly identity?: Identity;
}

export function recordOfPolicy(
  before: Policy,
  after: Policy,
  version: number,
  who: Administered,
): AdministrativeRecord {
  const { event, changed } = findPolicyChanges(before, after);
  const digests = { policyDigest: digestOf(after), previousDigest: digestOf(before) };
  return { event, detail: detailOf(who, { policyVersion: version, ...digests, changed }) };
}

export function recordOfWithdrawal(request: WithdrawModulesRequest): AdministrativeRecord {
  const changed = request.withdrawn.map(({ id, version }) => `module ${id} ${version} withdrawn`);
  return { event: 'catalog.withdrawn', detail: detailOf(request, { changed: boundedChanges(changed) }) };
}

export function recordOfPins(request: WritePinsRequest): AdministrativeRecord {
  return { event: 'pins.changed', detail: detailOf(request, { changed: boundedChanges(request.changed) }) };
}

const EVENT_OF: Readonly<Record<LoginPurpose, AdministrativeEvent>> = {
  'login-link': 'login.offered',
  login: 'login.succeeded',
};

/** The store decides when the token expires, so the store adds `expiresAt` to this record. */
export function recordOfNewToken(request: CreateTokenRequest): AdministrativeRecord {
  const { purpose } = request.token;
  return recordAbout(request.token, purpose === undefined ? 'token.created' : EVENT_OF[purpose], request);
}

export function recordOfRevokedToken(token: Partial<TokenFacts>, who: Administered): AdministrativeRecord {
  return recordAbout(token, 'token.revoked', who);
}

export function recordOfLogin(request: RecordLoginRequest): AdministrativeRecord {
  const { outcome, token, detail } = request;
  const event = outcome === 'succeeded' ? 'login.succeeded' : 'login.refused';
  if (token !== undefined) return recordAbout(token, event, request, detail);
  return { event, detail: detailOf(request, {}, detail) };
}

type TokenFacts = Pick<GatewayToken, 'id' | 'name' | 'scopes' | 'identity' | 'unattended'>;

function recordAbout(
  { id, name, scopes, identity, unattended }: Partial<TokenFacts>,
  event: AdministrativeEvent,
  who: Administered,
  detail?: string,
): AdministrativeRecord {
  // A token whose stored facts were edited by hand can still be revoked: facts of a wrong type are left out.
  const facts = {
    ...(id === undefined ? {} : { token: id }),
    ...(typeof name === 'string' ? { tokenName: shorten(name, AUDIT_LIMITS.nameLength) } : {}),
    ...(Array.isArray(scopes) ? { scopes } : {}),
    ...(unattended === true ? { unattended } : {}),
  };
  return { event, detail: detailOf(who, facts, detail), ...(identity === undefined ? {} : { identity }) };
}

export function recordOfOpenedSession(request: OpenSessionRequest): AdministrativeRecord {
  const { delegatedBy, identity } = request;
  const facts = delegatedBy === undefined ? {} : { delegatedBy };
  return { event: 'session.opened', detail: detailOf(request, facts), identity };
}

/**
 * Makes the detail of a record about the end of a session or run: only who ended it, and the comment. The store adds session, run and
 * identity and, for a revocation, the number of `sessions` that it ended.
 */
export function detailOfEnd(who: Administered): Uint8Array {
  return detailOf(who, {});
}

/** Appends the facts that only the store knows, as one more MessagePack map after the detail. */
export function withFacts(detail: Uint8Array, facts: AdministrativeFacts): Uint8Array {
  return Buffer.concat([detail, encode(facts)]);
}

function detailOf(
  { actor, comment }: Administered,
  facts: AdministrativeFacts & { readonly policyVersion?: number },
  detail?: string,
): Uint8Array {
  const { nameLength, detailLength, commentLength } = AUDIT_LIMITS;
  return Uint8Array.from(
    encode({
      by: shorten(actor?.by ?? 'unknown', nameLength),
      ...(actor === undefined ? {} : { via: shorten(actor.via, nameLength) }),
      ...(actor?.bearer === undefined ? {} : { bearer: shorten(actor.bearer, nameLength) }),
      ...facts,
      ...(comment === undefined ? {} : { comment: shorten(comment, commentLength) }),
      ...(detail === undefined ? {} : { detail: shorten(detail, detailLength) }),
    }),
  );
}

function digestOf(policy: Policy): string {
  return sha256(canonicalJson(policy as never));
}
