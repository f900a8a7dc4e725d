import type { FleetRegistry, WorkerBeat, WorkerEntry } from '../ports/fleet-registry.ts';

export interface FleetMembership {
  /** Says that this worker is alive, and, if that changed since it was last said, what it serves. */
  announce(): Promise<void>;
  leave(): Promise<void>;
}

type Served = Omit<WorkerEntry, keyof WorkerBeat>;

/** What is served has to be another object when it changes: with thousands of tools it is too much to compare, or to send each time. */
export function createFleetMembership(
  registry: Pick<FleetRegistry, 'registerWorker' | 'beatWorker' | 'deregisterWorker'>,
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
