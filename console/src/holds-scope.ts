import type { TokenScope } from '../../src/domain/identity/gateway-token.ts';
import { who } from './api.ts';

/** Whether the signed-in person has one of these scopes. This only decides what the console offers; the gateway decides what is allowed. */
export function holdsScope(...scopes: readonly TokenScope[]): boolean {
  const me = who.value;
  return typeof me !== 'string' && me.scopes.some((scope) => scopes.includes(scope));
}
