import type { Actor } from '../domain/actor.ts';
import type { TokenScope } from '../domain/gateway-token.ts';
import type { Identity, SessionHandle } from '../domain/session.ts';

/** Who makes a request, as the store says: nothing of it comes from the request but the proof. */
export interface Authenticated {
  /** A gateway token, the console's cookie, or the bearer of one session. */
  readonly via: 'token' | 'cookie' | 'session';
  /** Of the token; of a session, its id. Keys whatever belongs to one bearer: rate limits, MCP sessions, sealed state. */
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<TokenScope>;
  /** Whom calls are made for; there exactly with the scope `agent`. */
  readonly identity?: Identity;
  readonly decidesAs?: string;
  /** Every session that is opened for this bearer is unattended. */
  readonly unattended?: true;
  readonly expiresAt: number;
  /** Who it is for the audit, where no token proved it: the user who started `sallyport mcp`. */
  readonly actor?: Actor;
  /** Only `via: 'session'`: its calls are made in this session. */
  readonly session?: Pick<SessionHandle, 'id' | 'token'>;
}
