import type { IncomingMessage } from 'node:http';
import { createMiddleware } from 'hono/factory';
import { planeError } from '../../domain/errors.ts';
import type { Authenticated } from '../authenticated.ts';
import type { Authenticator } from './authenticate.ts';
import { addressKey } from './client-address.ts';
import { checkConsoleRequest, readCookie } from './console-request.ts';
import type { GatewayEnv } from './gateway-env.ts';
import type { InFlight } from './in-flight.ts';
import type { RateLimit } from './rate-limit.ts';
import { valuesOf } from './request-facts.ts';

export interface TokenNeeds {
  readonly authenticator: Authenticator;
  /** Per address, of failures only. */
  readonly failures: RateLimit;
  /** Per bearer. */
  readonly requests: RateLimit;
  readonly inFlight: InFlight;
}

/** Lets nobody through whom the store does not vouch for; whoever comes through is named in the context. */
export function requireToken(needs: TokenNeeds) {
  return createMiddleware<GatewayEnv>(async (context, next) => {
    const { incoming } = context.env;
    const given = readCredential(incoming);
    if (given?.via === 'cookie') checkConsoleRequest(incoming);
    const auth = await proveOrCount(needs, given, context.get('address'));
    const waitMs = needs.requests.take(auth.id);
    if (waitMs > 0) throw planeError('RATE_LIMITED', { retryAfterMs: waitMs });
    if (!needs.inFlight.belongsTo(incoming, { auth, bearer: given!.text })) {
      throw planeError('RATE_LIMITED', { retryAfterMs: TOO_MANY_AT_ONCE_MS });
    }
    context.set('auth', auth);
    await next();
  });
}

const TOO_MANY_AT_ONCE_MS = 1000;

interface Credential {
  readonly via: 'bearer' | 'cookie';
  readonly text: string;
}

/** The header counts alone when it is there: a page cannot set it, so nothing else has to be asked of the request. */
function readCredential(incoming: IncomingMessage): Credential | undefined {
  const [authorization, ...more] = valuesOf(incoming, 'authorization');
  if (authorization !== undefined) {
    const text = more.length > 0 ? undefined : /^Bearer +([\x21-\x7e]+)$/i.exec(authorization)?.[1];
    return text === undefined ? undefined : { via: 'bearer', text };
  }
  const cookie = readCookie(incoming.headers.cookie);
  return cookie === undefined ? undefined : { via: 'cookie', text: cookie.text };
}

/** Failures are counted before they are known: many at once would otherwise all be let through to the store. */
async function proveOrCount(
  { authenticator, failures }: TokenNeeds,
  given: Credential | undefined,
  address: string,
): Promise<Authenticated> {
  const key = addressKey(address);
  // Who was let in before is asked about again: others at the same address must not lock it out.
  const isKnown = given !== undefined && authenticator.isKnown(given.text);
  const waitMs = isKnown ? 0 : failures.take(key);
  if (waitMs > 0) throw planeError('RATE_LIMITED', { retryAfterMs: waitMs });
  const giveBack = (): void => {
    if (!isKnown) failures.giveBack(key);
  };
  const auth = given === undefined ? undefined : await proveOr(authenticator, given.text, giveBack);
  if (auth === undefined) {
    if (isKnown) failures.take(key);
    throw planeError('TOKEN_REFUSED', {});
  }
  giveBack();
  return given!.via === 'cookie' ? { ...auth, via: 'cookie' } : auth;
}

/** A store that does not answer is no failure of who asks. */
async function proveOr(
  authenticator: Authenticator,
  bearer: string,
  onTrouble: () => void,
): Promise<Authenticated | undefined> {
  try {
    return await authenticator.prove(bearer);
  } catch (error) {
    onTrouble();
    throw error;
  }
}
