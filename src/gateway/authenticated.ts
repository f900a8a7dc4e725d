import type { Actor } from '../domain/identity/actor.ts';
import type { TokenScope } from '../domain/identity/gateway-token.ts';
import type { Identity, SessionHandle } from '../domain/identity/session.ts';

/** The proven sender of a request. All fields come from the store; the request itself brings only the proof. */
export interface Authenticated {
  /** A gateway token, the console's cookie, or the bearer of one session. */
  readonly via: 'token' | 'cookie' | 'session';
  /**
   * The id of the token, or of the session. It is the key of everything that belongs to one bearer: rate limits, MCP sessions, sealed
   * state.
   */
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<TokenScope>;
  /** The identity that calls are made for. Present exactly when the bearer has the scope `agent`. */
  readonly identity?: Identity;
  readonly decidesAs?: string;
  /** Every session that is opened for this bearer is unattended. */
  readonly unattended?: true;
  readonly expiresAt: number;
  /** The actor for the audit if no token proved the sender: the user who started `sallyport mcp`. */
  readonly actor?: Actor;
  /** Only with `via: 'session'`: the session in which this bearer's calls are made. */
  readonly session?: Pick<SessionHandle, 'id' | 'token'>;
}
