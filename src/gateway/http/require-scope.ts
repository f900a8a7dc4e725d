import { createMiddleware } from 'hono/factory';
import { planeError } from '../../domain/errors.ts';
import type { TokenScope } from '../../domain/gateway-token.ts';
import type { Authenticated } from '../authenticated.ts';
import type { GatewayEnv } from './gateway-env.ts';

/** Lets through who has one of these scopes. An admin has all but `agent`: nobody calls tools without saying for whom. */
export function requireScope(...scopes: readonly [TokenScope, ...TokenScope[]]) {
  return createMiddleware<GatewayEnv>(async (context, next) => {
    checkScope(context.get('auth'), ...scopes);
    await next();
  });
}

/** The same for handlers which decide by what they find. */
export function checkScope(auth: Pick<Authenticated, 'scopes'>, ...scopes: readonly TokenScope[]): void {
  if (!hasScope(auth, ...scopes)) throw planeError('SCOPE_MISSING', { needed: [...scopes] });
}

export function hasScope(auth: Pick<Authenticated, 'scopes'>, ...scopes: readonly TokenScope[]): boolean {
  return scopes.some((scope) => auth.scopes.has(scope) || (scope !== 'agent' && auth.scopes.has('admin')));
}
