import { createMiddleware } from 'hono/factory';
import { planeError } from '../../domain/errors/errors.ts';
import type { Authenticator } from './authenticate.ts';
import { addressKey } from './client-address.ts';
import type { GatewayEnv } from './gateway-env.ts';
import { readCredential } from './read-credential.ts';

export interface StrangerSettings {
  /** Max concurrent requests, over all addresses. */
  readonly max: number;
  readonly maxPerAddress: number;
  readonly authenticator: Pick<Authenticator, 'isStillGood'>;
}

const RETRY_MS = 1000;

/**
 * Limits requests that are answered without a token: pages, logins, paths that do not exist. A request counts until its response was sent
 * or its socket has closed. A browser that is logged in does not count. Health checks do not pass this limit: a load balancer would
 * otherwise remove a gateway that is only busy refusing an attacker.
 */
export function limitStrangers({ max, maxPerAddress, authenticator }: StrangerSettings) {
  const ofAddress = new Map<string, number>();
  let total = 0;

  return createMiddleware<GatewayEnv>(async (context, next) => {
    const { incoming, outgoing } = context.env;
    const given = readCredential(incoming);
    if (given !== undefined && (await authenticator.isStillGood(given.text))) return next();
    const address = addressKey(context.get('address'));
    const count = ofAddress.get(address) ?? 0;
    if (total >= max || count >= maxPerAddress) throw planeError('GATEWAY_BUSY', { retryAfterMs: RETRY_MS });
    total += 1;
    ofAddress.set(address, count + 1);
    outgoing.once('close', () => {
      total -= 1;
      const left = ofAddress.get(address)! - 1;
      if (left === 0) ofAddress.delete(address);
      else ofAddress.set(address, left);
    });
    await next();
  });
}
