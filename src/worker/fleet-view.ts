import type { WorkerId } from '../domain/ids.ts';
import type { FleetRegistry, WorkerEntry } from '../ports/fleet-registry.ts';

/** Who else is there, at most a moment old: asked only when a call names a definition that is not ours. */
const FRESH_MS = 1000;

export function createFleetView(
  registry: Pick<FleetRegistry, 'listWorkers'>,
  self: { workerId: WorkerId; pool: string },
) {
  let workers: readonly WorkerEntry[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    async servedElsewhere(toolDigest: string): Promise<boolean> {
      if (performance.now() - readAt > FRESH_MS) {
        workers = await registry.listWorkers();
        readAt = performance.now();
      }
      return workers.some(
        ({ workerId, pool, state, toolDigests }) =>
          workerId !== self.workerId && pool === self.pool && state === 'serving' && toolDigests.includes(toolDigest),
      );
    },
  };
}
