/** Where an administrative change came in. `gateway` is the HTTP API and MCP; `config` is a configuration file that a process read. */
export const ACTOR_SURFACES = ['cli', 'gateway', 'console', 'client', 'config'] as const;
export type ActorSurface = (typeof ACTOR_SURFACES)[number];

/**
 * Who changes something in a deployment, for its audit record. The gateway proves it with a token. The command line and the client
 * library say it of themselves: a program with the store's credentials could say anything.
 */
export interface Actor {
  /** `operator ada`, `token ci`, `program billing`, `process host.42`, or `unknown`. */
  readonly by: string;
  readonly via: ActorSurface;
  /** Id of the gateway token that proved it. Never its secret. */
  readonly bearer?: string;
}

/** What every administrative request to a store can say about itself. Without an actor the record says `unknown`. */
export interface Administered {
  readonly actor?: Actor;
  /** Why, in words of the person who did it. */
  readonly comment?: string;
}

/** An actor that a surface cannot name. It is written down as such. */
export function unknownActor(via: ActorSurface): Actor {
  return { by: 'unknown', via };
}
