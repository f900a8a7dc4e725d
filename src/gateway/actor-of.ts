import type { Actor } from '../domain/actor.ts';
import type { Authenticated } from './authenticated.ts';

const ADMINISTERS = ['operator', 'approver', 'sessions', 'admin'] as const;

/** Who a request is from, as its token proved it. An agent's token and the bearer of a session are no operators. */
export function actorOf({ actor, via, id, name, scopes }: Authenticated): Actor {
  if (actor !== undefined) return actor;
  const kind = administers({ scopes }) ? 'operator' : 'token';
  const by = via === 'session' ? name : `${kind} ${name}`;
  return { by, via: via === 'cookie' ? 'console' : 'gateway', bearer: id };
}

/** Whether it may change more than its own calls. */
export function administers({ scopes }: Pick<Authenticated, 'scopes'>): boolean {
  return ADMINISTERS.some((scope) => scopes.has(scope));
}
