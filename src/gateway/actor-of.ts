import type { Actor } from '../domain/identity/actor.ts';
import type { Authenticated } from './authenticated.ts';

const ADMINISTERS = ['operator', 'approver', 'sessions', 'admin'] as const;

/**
 * The actor that the audit records for a request: `auth.actor` if it is set, otherwise the name of the token or session. Only a bearer with
 * an administering scope is called an operator; an agent's token and the bearer of a session are not.
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
