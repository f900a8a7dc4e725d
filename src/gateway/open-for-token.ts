import type { Client } from '../client/client.ts';
import { DEFAULT_LIFETIME_MS, type OpenSessionOptions } from '../client/open-session.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { SessionHandle } from '../domain/identity/session.ts';
import type { TokenSessions } from '../domain/ports/token-store.ts';
import { actorOf } from './actor-of.ts';
import type { Authenticated } from './authenticated.ts';

/**
 * Opens a session that ends when the bearer's token is revoked. The store records the session with the token before the secret of the
 * session leaves this function. So the token may be revoked at any time: if the session is recorded first, the revocation revokes it; if
 * the revocation comes first, the store refuses to record the session, and it is revoked here. If the process dies between opening and
 * recording, the secret is lost with it, and nothing can call in that session.
 */
export async function openForToken(
  client: Pick<Client, 'openSession' | 'revokeSession'>,
  tokens: TokenSessions | undefined,
  bearer: Authenticated,
  options: OpenSessionOptions,
): Promise<SessionHandle> {
  const actor = actorOf(bearer);
  // A request can make its session unattended. It cannot make it attended if the token is unattended.
  const wanted = bearer.unattended === true ? { ...options, unattended: true } : options;
  const handle = await client.openSession(wanted, actor);
  const { lifetimeMs = DEFAULT_LIFETIME_MS } = options;
  const noted = await tokens?.noteTokenSession({ id: bearer.id, session: handle.id, lifetimeMs });
  if (noted !== 'ended') return handle;
  await client.revokeSession(handle.id, actor);
  throw planeError('SESSION_INVALID', { problem: 'its token does not work any more' });
}
