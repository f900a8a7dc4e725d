import { createMiddleware } from 'hono/factory';
import { planeError } from '../../domain/errors/errors.ts';
import type { TokenScope } from '../../domain/identity/gateway-token.ts';
import type { Authenticated } from '../authenticated.ts';
import type { GatewayEnv } from './gateway-env.ts';

/**
 * Lets a bearer through that has one of these scopes. An admin has all scopes but `agent`: a call always needs an identity to be made for.
 */
export function requireScope(...scopes: readonly [TokenScope, ...TokenScope[]]) {
  return createMiddleware<GatewayEnv>(async (context, next) => {
    checkScope(context.get('auth'), ...scopes);
    await next();
  });
}

/** The same check for handlers that know the needed scopes only while they handle the request. */
export function checkScope(auth: Pick<Authenticated, 'scopes'>, ...scopes: readonly TokenScope[]): void {
  if (!hasScope(auth, ...scopes)) throw planeError('SCOPE_MISSING', { needed: [...scopes] });
}

export function hasScope(auth: Pick<Authenticated, 'scopes'>, ...scopes: readonly TokenScope[]): boolean {
  return scopes.some((scope) => auth.scopes.has(scope) || (scope !== 'agent' && auth.scopes.has('admin')));
}
