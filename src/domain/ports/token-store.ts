import type { Administered } from '../identity/actor.ts';
import type { GatewayToken, NewToken } from '../identity/gateway-token.ts';
import type { SessionId } from '../identity/ids.ts';

/**
 * Tokens of the gateway, and secrets that can be used only once. Time is the store's; each method is one atomic, durable, idempotent step.
 * Only digests of secrets are stored, so a reader of the store cannot log in with them. A change and its audit record are one step.
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
   * Creates a token. `full`: the max number of valid tokens exists. Tokens that have ended do not count: one of them is deleted if
   * necessary. Repeating the request with the same id and digest changes nothing. Throws `TOKEN_INVALID` for any problem that
   * `findTokenProblem` reports, and for an id that exists with another secret.
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

/** Records the sessions that a gateway opens for the bearer of a token. */
export interface TokenSessions {
  /**
   * Records that a gateway opened this session for a bearer of the token, so that revoking the token also revokes the session. The gateway
   * gives the session to the bearer only after `noted`. `ended`: the token is no longer valid, and the gateway must revoke the session.
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
   * Takes effect with the next `proveToken`. Returns when all sessions recorded for the token are revoked, in every lane, whichever gateway
   * opened them. Questions about their calls can then no longer be decided, and none of their calls starts. Revoking a token again changes
   * nothing. If a lane cannot be reached, it throws: the token and the sessions in the other lanes are then revoked, and
   * `finishRevocations` revokes the remaining ones.
   */
  revokeToken(request: RevokeTokenRequest): Promise<'revoked' | 'unknown'>;
}

/** Finishes interrupted revocations, for gateways. */
export interface RevocationRepair {
  /**
   * Finishes revocations that were interrupted because a process was killed or could not reach a lane; returns how many there were. Several
   * processes may run it at once. `thorough` checks every revoked token, which also finds interrupted revocations of an earlier release;
   * use it when a process starts.
   */
  finishRevocations(request: { readonly thorough: boolean }): Promise<number>;
}

/** Lets a secret be used once: login links, and state that clients carry. */
export interface SingleUse {
  /**
   * Answers `first` to exactly one `attempt` per digest until the digest expires; all other attempts get `used`. The same attempt gets
   * `first` again when it is repeated. Needed because a client can present the same secret many times. A request with no remaining lifetime
   * gets `used`.
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
  /** The address that the login came from, and the number of earlier refused logins that were not recorded. */
  readonly detail: string;
}

export interface CreateTokenRequest extends Administered {
  /** Its purpose determines the event of the audit record: `token.created`, `login.offered`, `login.succeeded`. */
  readonly token: NewToken;
  /** SHA-256 of the secret, hex. The store keeps a digest of this, so what it holds is not a credential. */
  readonly secretDigest: string;
  readonly lifetimeMs: number;
}

/**
 * How long a login attempt is remembered, so that a repeat after a lost answer is not recorded twice. A minute is enough, because the
 * process repeats the request at once.
 */
export const LOGIN_KNOWN_MS = 60_000;
