import type { Actor } from '../domain/identity/actor.ts';
import type { Authenticated } from './authenticated.ts';

const ADMINISTERS = ['operator', 'approver', 'sessions', 'admin'] as const;

/**
 * The actor of a request: the one that was given, or the one that the proven token names. A bearer without an administering scope (an
 * agent's token, the bearer of a session) is not called an operator.
 */
export function actorOf({ actor, via, id, name, scopes }: Authenticated): Actor {
  if (actor !== undefined) return actor;
  const kind = administers({ scopes }) ? 'operator' : 'token';
  const by = via === 'session' ? name : `${kind} ${name}`;
  return { by, via: via === 'cookie' ? 'console' : 'gateway', bearer: id };
}

/** Whether the bearer may change more than its own calls. */
export function administers({ scopes }: Pick<Authenticated, 'scopes'>): boolean {
  return ADMINISTERS.some((scope) => scopes.has(scope));
}
