import type { Identity } from './session.ts';

/**
 * What the bearer of a token may do at the gateway:
 * `agent`: call tools as one agent for one subject;
 * `operator`: see everything, stop calls, resolve indeterminate ones, pause agents and tools, and explain verdicts;
 * `approver`: see questions and decide them;
 * `sessions`: open sessions for any subject and agent, and so call tools for any of them;
 * `admin`: also change the policy and create tokens.
 */
export const TOKEN_SCOPES = ['agent', 'operator', 'approver', 'sessions', 'admin'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** `login-link`: the code in a link, which works once. `login`: the token that a browser holds after it used the link. */
export type LoginPurpose = 'login-link' | 'login';

/** A token as the store keeps it. The secret itself is shown once and stored nowhere. */
export interface GatewayToken {
  /** Part of the token's text, by which the store finds the token. It is not a secret. */
  readonly id: string;
  /** The name of the person or program that the token was made for. Audit records contain it as the author of what the bearer does. */
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** The identity that calls are made for. Present if and only if the token has the scope `agent`. */
  readonly identity?: Identity;
  /** `TENANT/SUBJECT` that an approver decides as. Absent: the bearer decides as an operator, who may decide every question. */
  readonly decidesAs?: string;
  /** True if every session that the token opens is unattended, whatever the request states. The bearer cannot undo this. */
  readonly unattended?: true;
  /** Set if the token was made by a login link or for one. Absent: an administrator made it for a program or a person. */
  readonly purpose?: LoginPurpose;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt?: number;
}

export const TOKEN_LIMITS = Object.freeze({
  nameLength: 100,
  defaultLifetimeMs: 30 * 24 * 60 * 60 * 1000,
  maxLifetimeMs: 366 * 24 * 60 * 60 * 1000,
  /** Max number of valid tokens. When the store is full, tokens that have ended are deleted early to make room. */
  maxTokens: 10_000,
  /** Tokens that have ended stay in lists for this long. */
  keptAfterEndMs: 7 * 24 * 60 * 60 * 1000,
});

/** The fields of a new token that its creator states. The store adds the rest. */
export type NewToken = Omit<GatewayToken, 'createdAt' | 'expiresAt' | 'revokedAt'>;

const ID = /^[a-z2-7]{16}$/;
const PLAIN = /^[^\p{Cc}\p{Cs}]{1,256}$/u;
const IDENTITY_FIELDS = ['tenant', 'subject', 'agent', 'channel', 'space', 'platform'] as const;

/**
 * Returns why this token must not be created, as a message for the person who asked for it; undefined if it may be. Also refuses a field
 * that none of the scopes uses, because people would take it for a limit.
 */
export function findTokenProblem(token: NewToken, lifetimeMs: number): string | undefined {
  const { id, name, scopes, identity, decidesAs, unattended } = token;
  if (!ID.test(id)) return 'its id must be 16 characters of a-z and 2-7';
  if (!PLAIN.test(name) || name.length > TOKEN_LIMITS.nameLength) {
    return `its name must be 1 to ${TOKEN_LIMITS.nameLength} characters without control characters`;
  }
  if (scopes.length === 0) return `it needs a scope: ${TOKEN_SCOPES.join(', ')}`;
  const strange = scopes.find((scope) => !TOKEN_SCOPES.includes(scope));
  if (strange !== undefined) return `a scope must be one of ${TOKEN_SCOPES.join(', ')}`;
  if (new Set(scopes).size !== scopes.length) return 'a scope is given twice';
  if (scopes.includes('agent') !== (identity !== undefined)) {
    return 'the scope agent and an identity (agent and subject) come together';
  }
  const { maxLifetimeMs } = TOKEN_LIMITS;
  if (!(lifetimeMs >= 1 && lifetimeMs <= maxLifetimeMs)) return `its lifetime must be 1 to ${maxLifetimeMs} ms`;
  return (
    findIdentityProblem(identity) ??
    findPrincipalProblem(scopes, decidesAs) ??
    findUnattendedProblem(scopes, unattended)
  );
}

function findIdentityProblem(identity: Identity | undefined): string | undefined {
  if (identity === undefined) return undefined;
  for (const field of IDENTITY_FIELDS) {
    const value = identity[field];
    const isAbsent = value === undefined && !['tenant', 'subject', 'agent'].includes(field);
    if (!isAbsent && (typeof value !== 'string' || !PLAIN.test(value))) {
      return `${field} must be text of 1 to 256 characters without control characters`;
    }
  }
  if (identity.tenant.includes('/')) return 'a tenant has no slash';
  if (identity.unattended !== undefined) return 'the token itself is unattended, not its identity';
  // Agents delegate with sessions, which end together with their delegator; a token would outlive the delegator.
  return identity.delegators === undefined ? undefined : 'a token has no delegators';
}

function findUnattendedProblem(scopes: readonly TokenScope[], unattended: unknown): string | undefined {
  if (unattended === undefined) return undefined;
  if (unattended !== true) return 'unattended is true, or left out';
  if (!scopes.includes('agent') && !scopes.includes('sessions')) {
    return 'only a token with the scope agent or sessions is unattended';
  }
  // An admin can create a token that is attended, so the flag would promise a limit that does not exist.
  return scopes.includes('admin') ? 'a token with the scope admin cannot be unattended' : undefined;
}

function findPrincipalProblem(scopes: readonly TokenScope[], decidesAs: string | undefined): string | undefined {
  if (decidesAs === undefined) return undefined;
  const [tenant = '', ...rest] = decidesAs.split('/');
  if (!PLAIN.test(tenant) || !PLAIN.test(rest.join('/'))) return 'who it decides as must read TENANT/SUBJECT';
  // An admin without the scope `approver` decides every question as an operator, so the name would promise a limit that does not exist.
  return scopes.includes('approver') ? undefined : 'only a token with the scope approver decides as somebody';
}
