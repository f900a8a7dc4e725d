import type { Administered } from '../domain/actor.ts';
import type { GatewayToken, NewToken } from '../domain/gateway-token.ts';
import type { SessionId } from '../domain/ids.ts';

/**
 * Tokens of the gateway, and what may be used once. Time is the store's, each method is one atomic, durable, idempotent step.
 * Nothing kept here lets anybody in: of secrets there are digests only. A change and its audit record are one step.
 */
export interface TokenStore {
  /**
   * `full`: as many work as there may be; ended ones make room. Repeating it with the same id and digest changes nothing. Throws
   * `TOKEN_INVALID` for what `findTokenProblem` finds, and for an id that another secret has.
   */
  createToken(
    request: CreateTokenRequest,
  ): Promise<{ readonly kind: 'created'; readonly token: GatewayToken } | { readonly kind: 'full' }>;
  /** The token, if this is its secret and it is neither expired nor revoked. Nothing else is told: who guesses learns nothing. */
  proveToken(request: { readonly id: string; readonly secretDigest: string }): Promise<GatewayToken | undefined>;
  /** Newest first, expired and revoked ones too until they are forgotten, a week after their end. */
  listTokens(request: { readonly limit: number }): Promise<GatewayToken[]>;
  /**
   * A gateway opened this session for a bearer of the token, and will give it out only after `noted`. `ended`: the token does not work
   * any more, and the caller revokes the session.
   */
  noteTokenSession(request: {
    readonly id: string;
    readonly session: SessionId;
    readonly lifetimeMs: number;
  }): Promise<'noted' | 'ended'>;
  /**
   * Holds from the next `proveToken` on. Answers when all sessions that were noted for it are revoked, in every lane and whichever gateway
   * opened them: their questions can no longer be decided, and none of their calls starts. Revoking it again changes nothing. If a lane
   * cannot be reached it throws; the token and the sessions of the other lanes are revoked then, and `finishRevocations` does the rest.
   */
  revokeToken(request: RevokeTokenRequest): Promise<'revoked' | 'unknown'>;
  /**
   * Finishes revocations of which a process was killed in the middle, or could not reach a lane; answers how many there were. Processes may
   * do it side by side. `thorough` looks at every revoked token, and so also finds what an earlier release left; for the start of a process.
   */
  finishRevocations(request: { readonly thorough: boolean }): Promise<number>;
  /**
   * Answers `first` to exactly one `attempt` for a digest until it expires, and the same to that attempt again. For login links and for
   * state that clients carry: possession is no proof that it was not used before. Without a lifetime left it is `used`.
   */
  useOnce(request: {
    readonly digest: string;
    readonly attempt: string;
    readonly lifetimeMs: number;
  }): Promise<'first' | 'used'>;
  /** Writes the audit record of a login that changes nothing else. The same `attempt` again writes nothing. */
  recordLogin(request: RecordLoginRequest): Promise<void>;
}

export interface RevokeTokenRequest extends Administered {
  readonly id: string;
}

export interface RecordLoginRequest extends Administered {
  readonly outcome: 'succeeded' | 'refused';
  /** Unguessable, made anew for each login. */
  readonly attempt: string;
  /** That was shown to log in, where it is known. */
  readonly token?: GatewayToken;
  /** From where, and how many refusals before it were not written down. */
  readonly detail: string;
}

export interface CreateTokenRequest extends Administered {
  /** Its purpose decides the event of the record: `token.created`, `login.offered`, `login.succeeded`. */
  readonly token: NewToken;
  /** SHA-256 of the secret, hex. The store keeps a digest of this, so what it holds is no credential. */
  readonly secretDigest: string;
  readonly lifetimeMs: number;
}

/** So long after a login the same attempt is known: a repeat after a lost answer comes at once. */
export const LOGIN_KNOWN_MS = 60_000;
