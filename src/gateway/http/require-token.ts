import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { PlaneError, planeError } from '../../domain/errors/errors.ts';
import type { Authenticated } from '../authenticated.ts';
import type { Authenticator } from './authenticate.ts';
import { addressKey } from './client-address.ts';
import { checkConsoleRequest } from './console-request.ts';
import type { FailureBudget } from './failure-budget.ts';
import type { GatewayEnv } from './gateway-env.ts';
import type { InFlight } from './in-flight.ts';
import type { RateLimit } from './rate-limit.ts';
import { readCredential, type Credential } from './read-credential.ts';

export interface TokenNeeds {
  readonly authenticator: Authenticator;
  readonly failures: FailureBudget;
  /** Limits requests per bearer. */
  readonly requests: RateLimit;
  readonly inFlight: InFlight;
}

/** Refuses a request unless the store confirms its credential. Puts the proven sender into the context. */
export function requireToken(needs: TokenNeeds) {
  return createMiddleware<GatewayEnv>(async (context, next) => {
    const { incoming } = context.env;
    const given = readCredential(incoming);
    // A missing credential does not count as a failure: any page can make a browser send such requests, and must not lock its user out.
    if (given === undefined) throw planeError('TOKEN_REFUSED', {});
    if (given.via === 'cookie') checkConsoleRequest(incoming);
    const { method, path } = context.req;
    const forChange = method !== 'GET' && method !== 'HEAD' && path.startsWith('/v1/');
    const auth = await proveOrCount(needs, { ...given, forChange }, addressKey(context.get('address')));
    const waitMs = needs.requests.take(auth.id);
    if (waitMs > 0) throw planeError('RATE_LIMITED', { retryAfterMs: waitMs });
    if (!needs.inFlight.belongsTo(incoming, { auth, bearer: given.text })) {
      throw planeError('RATE_LIMITED', { retryAfterMs: TOO_MANY_AT_ONCE_MS });
    }
    context.set('auth', auth);
    await next();
    if (reportsEnd(context) && !(await isGoodNow(needs, given.text))) throw planeError('TOKEN_REFUSED', {});
  });
}

/**
 * Whether the request failed because its session has ended. A session also ends when its token is revoked, and the reused answer about the
 * token may be older than that. So the token is proved again, and a revoked token gets the same answer as any other invalid token.
 */
function reportsEnd({ res, error }: Context<GatewayEnv>): boolean {
  return res.status === 401 || (error instanceof PlaneError && error.code === 'SESSION_INVALID');
}

async function isGoodNow({ authenticator }: TokenNeeds, text: string): Promise<boolean> {
  authenticator.forget(text);
  return (await authenticator.prove(text)) !== undefined;
}

const TOO_MANY_AT_ONCE_MS = 1000;

async function proveOrCount(
  { authenticator, failures }: TokenNeeds,
  { via, text, forChange }: Credential & { readonly forChange: boolean },
  address: string,
): Promise<Authenticated> {
  const prove = (): Promise<Authenticated | undefined> => authenticator.prove(text, { forChange });
  // A credential that was valid before is proved outside the budget: wrong credentials from the same address must not delay it.
  const isKnown = authenticator.isKnown(text);
  const auth = isKnown ? await prove() : await failures.prove(address, prove);
  if (auth === undefined) {
    if (isKnown) failures.count(address);
    throw planeError('TOKEN_REFUSED', {});
  }
  return via === 'cookie' ? { ...auth, via: 'cookie' } : auth;
}
