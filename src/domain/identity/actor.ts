/**
 * The interface through which an administrative change was made. `gateway` is the HTTP API and MCP; `config` is a configuration file that a
 * process read.
 */
export const ACTOR_SURFACES = ['cli', 'gateway', 'console', 'client', 'config'] as const;
export type ActorSurface = (typeof ACTOR_SURFACES)[number];

/**
 * The person or program that makes an administrative change, as its audit record names it. The gateway proves the actor with a token. The
 * command line and the client library state their own actor without proof: a program with the store's credentials could state any name.
 */
export interface Actor {
  /** `operator ada`, `token ci`, `program billing`, `process host.42`, or `unknown`. */
  readonly by: string;
  readonly via: ActorSurface;
  /** Id of the gateway token that proved this actor. Never the token's secret. */
  readonly bearer?: string;
}

/** Fields that every administrative request to a store can carry. Without an actor, the audit record names `unknown`. */
export interface Administered {
  readonly actor?: Actor;
  /** The reason for the change, in the words of the person who made it. */
  readonly comment?: string;
}

/** The actor of a change if the interface does not know who made it. The audit record names this actor `unknown`. */
export function unknownActor(via: ActorSurface): Actor {
  return { by: 'unknown', via };
}
