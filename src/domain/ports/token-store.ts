import type { Administered } from '../identity/actor.ts';
import type { GatewayToken, NewToken } from '../identity/gateway-token.ts';
import type { SessionId } from '../identity/ids.ts';

/**
 * Tokens of the gateway, and secrets that may be used once. Time is the store's; each method is one atomic, durable, idempotent step.
 * Nothing stored here grants access: only digests of secrets are kept. A change and its audit record are one step.
 */
export interface TokenStore
  extends
    TokenIssuing,
    TokenProof,
    TokenList,
    TokenSessions,
    TokenRevocation,
    RevocationRepair,
    SingleUse,
    LoginRecords {}

/** Creates tokens, for operators and logins. */
export interface TokenIssuing {
  /**
   * `full`: the max number of valid tokens exists; ended ones make room. Repeating it with the same id and digest changes nothing. Throws
   * `TOKEN_INVALID` for any problem that `findTokenProblem` reports, and for an id that exists with another secret.
   */
  createToken(
    request: CreateTokenRequest,
  ): Promise<{ readonly kind: 'created'; readonly token: GatewayToken } | { readonly kind: 'full' }>;
}

/** Checks the secret of a token. */
export interface TokenProof {
  /**
   * Returns the token, if this is its secret and it is neither expired nor revoked. The answer gives no reason, so a caller who guesses
   * learns nothing.
   */
  proveToken(request: { readonly id: string; readonly secretDigest: string }): Promise<GatewayToken | undefined>;
}

/** Lists tokens, for operators. */
export interface TokenList {
  /** Lists newest first, including expired and revoked ones until they are deleted, a week after their end. */
  listTokens(request: { readonly limit: number }): Promise<GatewayToken[]>;
}

/** Notes the sessions that a gateway opens for the bearer of a token. */
export interface TokenSessions {
  /**
   * Records that a gateway opened this session for a bearer of the token. The gateway hands the session out only after `noted`. `ended`:
   * the token is no longer valid, and the caller revokes the session.
   */
  noteTokenSession(request: {
    readonly id: string;
    readonly session: SessionId;
    readonly lifetimeMs: number;
  }): Promise<'noted' | 'ended'>;
}

/** Revokes tokens, for operators and logouts. */
export interface TokenRevocation {
  /**
   * Takes effect with the next `proveToken`. Returns when all sessions recorded for the token are revoked, in every lane and whichever
   * gateway opened them: their questions can no longer be decided, and none of their calls starts. Revoking it again changes nothing. If a
   * lane cannot be reached it throws; the token and the sessions of the other lanes are revoked then, and `finishRevocations` does the
   * rest.
   */
  revokeToken(request: RevokeTokenRequest): Promise<'revoked' | 'unknown'>;
}

/** Finishes interrupted revocations, for gateways. */
export interface RevocationRepair {
  /**
   * Finishes revocations that were interrupted because a process was killed or could not reach a lane; returns how many there were. Several
   * processes may run it at once. `thorough` checks every revoked token, and so also finds what an earlier release left; use it when a
   * process starts.
   */
  finishRevocations(request: { readonly thorough: boolean }): Promise<number>;
}

/** Lets a secret be used once: login links, and state that clients carry. */
export interface SingleUse {
  /**
   * Returns `first` to exactly one `attempt` for a digest until it expires; that attempt gets `first` again when repeated. Used for login
   * links and for state that clients carry: possession does not prove that it was not used before. Without remaining lifetime the answer is
   * `used`.
   */
  useOnce(request: {
    readonly digest: string;
    readonly attempt: string;
    readonly lifetimeMs: number;
  }): Promise<'first' | 'used'>;
}

/** Writes the audit records of logins. */
export interface LoginRecords {
  /** Writes the audit record of a login that changes nothing else. The same `attempt` again writes nothing. */
  recordLogin(request: RecordLoginRequest): Promise<void>;
}

export interface RevokeTokenRequest extends Administered {
  readonly id: string;
}

export interface RecordLoginRequest extends Administered {
  readonly outcome: 'succeeded' | 'refused';
  /** Unguessable, new for each login. */
  readonly attempt: string;
  /** The token used to log in, if it is known. */
  readonly token?: GatewayToken;
  /** Where the login came from, and how many refusals before it were not recorded. */
  readonly detail: string;
}

export interface CreateTokenRequest extends Administered {
  /** Its purpose determines the event of the audit record: `token.created`, `login.offered`, `login.succeeded`. */
  readonly token: NewToken;
  /** SHA-256 of the secret, hex. The store keeps a digest of this, so what it holds is not a credential. */
  readonly secretDigest: string;
  readonly lifetimeMs: number;
}

/** How long a login attempt is remembered, to recognise its repeat. A repeat after a lost answer comes at once. */
export const LOGIN_KNOWN_MS = 60_000;
