import type { TokenScope } from '../../src/domain/gateway-token.ts';
import { who } from './api.ts';

/** Whether whoever is signed in has one of these. Only decides what is offered; the gateway decides what is done. */
export function holdsScope(...scopes: readonly TokenScope[]): boolean {
  const me = who.value;
  return typeof me !== 'string' && me.scopes.some((scope) => scopes.includes(scope));
}
