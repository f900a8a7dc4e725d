import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticated } from '../authenticated.ts';
import { PROOF_MS, type Authenticator } from './authenticate.ts';

export interface Owner {
  readonly auth: Authenticated;
  readonly bearer: string;
}

interface Flight {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly since: number;
  owner?: Owner;
}

/** The requests that are being answered. Streams among them may last for days. */
export interface InFlight {
  add(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Assigns a request to its bearer. Returns false if the bearer already has its max number of requests under way. */
  belongsTo(incoming: IncomingMessage, owner: Owner): boolean;
  ownerOf(incoming: IncomingMessage): Owner | undefined;
  /**
   * Ends event streams at once, since they never end by themselves. Resolves when all other requests have been answered, or after
   * `graceMs`.
   */
  drain(graceMs: number): Promise<void>;
  stop(): void;
}

/**
 * Tracks requests under way. `watch` ends those of bearers whose token was revoked: a stream is authenticated only when it begins, and
 * would otherwise go on to show what the token may no longer see.
 */
export function trackInFlight(settings: { readonly maxPerBearer: number }): InFlight & {
  watch(authenticator: Authenticator): void;
} {
  const flights = new Map<IncomingMessage, Flight>();
  const ofBearer = new Map<string, number>();
  let emptied: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  function remove(flight: Flight): void {
    if (!flights.delete(flight.incoming)) return;
    const { owner } = flight;
    if (owner !== undefined) {
      const left = (ofBearer.get(owner.auth.id) ?? 1) - 1;
      if (left === 0) ofBearer.delete(owner.auth.id);
      else ofBearer.set(owner.auth.id, left);
    }
    if (flights.size === 0) emptied?.();
  }

  async function endRevoked(authenticator: Authenticator): Promise<void> {
    const before = performance.now() - PROOF_MS;
    const long = [...flights.values()].filter(({ owner, since }) => owner !== undefined && since < before);
    for (const flight of long) {
      // If the store does not answer, the token is not known to be revoked.
      const isRevoked = await authenticator.prove(flight.owner!.bearer).then(
        (auth) => auth === undefined,
        () => false,
      );
      if (isRevoked) flight.outgoing.destroy();
    }
  }

  return {
    add(incoming, outgoing) {
      const flight: Flight = { incoming, outgoing, since: performance.now() };
      flights.set(incoming, flight);
      outgoing.once('close', () => remove(flight));
    },
    belongsTo(incoming, owner) {
      const flight = flights.get(incoming);
      const now = ofBearer.get(owner.auth.id) ?? 0;
      if (flight === undefined || now >= settings.maxPerBearer) return false;
      flight.owner = owner;
      ofBearer.set(owner.auth.id, now + 1);
      return true;
    },
    ownerOf: (incoming) => flights.get(incoming)?.owner,
    watch(authenticator) {
      let busy = false;
      timer = setInterval(() => {
        if (busy) return;
        busy = true;
        void endRevoked(authenticator).finally(() => (busy = false));
      }, PROOF_MS);
      timer.unref();
    },
    drain(graceMs) {
      for (const { incoming, outgoing } of flights.values()) {
        if (incoming.method === 'GET' && isEventStream(outgoing)) outgoing.destroy();
        else if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
      }
      if (flights.size === 0) return Promise.resolve();
      return new Promise((resolve) => {
        const giveUp = setTimeout(resolve, graceMs);
        emptied = () => {
          clearTimeout(giveUp);
          resolve();
        };
      });
    },
    stop: () => clearInterval(timer),
  };
}

function isEventStream(outgoing: ServerResponse): boolean {
  return String(outgoing.getHeader('content-type') ?? '').startsWith('text/event-stream');
}
