import type { FleetMember, WorkerBeat, WorkerEntry } from '../domain/ports/fleet-registry.ts';

export interface FleetMembership {
  /**
   * Registers that this worker is alive. Also registers what it serves, if that changed
   * since the last time or the registry no longer has the worker.
   */
  announce(): Promise<void>;
  leave(): Promise<void>;
}

type Served = Omit<WorkerEntry, keyof WorkerBeat>;

/** `served` must return another object when what is served changes. With thousands of tools it is too large to compare, or to send each time. */
export function createFleetMembership(
  registry: FleetMember,
  self: { readonly beat: () => WorkerBeat; readonly served: () => Served; readonly ttlMs: number },
): FleetMembership {
  const { ttlMs } = self;
  let known: Served | undefined;
  return {
    async announce() {
      const served = self.served();
      const worker = self.beat();
      if (served === known && (await registry.beatWorker({ worker, ttlMs })) === 'beaten') return;
      await registry.registerWorker({ worker: { ...worker, ...served }, ttlMs });
      known = served;
    },
    leave: () => registry.deregisterWorker(self.beat().workerId),
  };
}
