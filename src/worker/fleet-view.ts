import type { WorkerId } from '../domain/identity/ids.ts';
import { shareNext } from '../domain/call/share-next.ts';
import type { FleetReader, WorkerEntry } from '../domain/ports/fleet-registry.ts';
import type { Peers } from '../domain/ports/plane.ts';

/**
 * How long a worker list that contains a serving peer is reused. The list is needed only when a call names a tool digest that this worker
 * does not serve.
 */
const FRESH_MS = 1000;

export function createFleetView(
  registry: FleetReader,
  self: { workerId: WorkerId; pool: string },
): { peersFor(toolDigest: string): Promise<Peers> } {
  let workers: readonly WorkerEntry[] = [];
  let readAt = Number.NEGATIVE_INFINITY;

  const read = shareNext(async () => {
    workers = await registry.listWorkers();
    readAt = performance.now();
  });

  function count(toolDigest: string): Peers {
    const others = workers.filter(
      ({ workerId, pool, state }) => workerId !== self.workerId && pool === self.pool && state === 'serving',
    );
    const serving = others.filter(({ toolDigests }) => toolDigests.includes(toolDigest)).length;
    return { serving, notServing: others.length - serving + 1 };
  }

  return {
    async peersFor(toolDigest) {
      if (performance.now() - readAt <= FRESH_MS) {
        const known = count(toolDigest);
        if (known.serving > 0) return known;
      }
      // If no peer serves the tool, the call ends, although a worker of a new release may have registered just now. So "no peer" is
      // answered only from a list that was read after this request.
      await read();
      return count(toolDigest);
    },
  };
}
