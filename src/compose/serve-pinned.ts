import type { LoadResult } from '../modules/catalog/loaded-module.ts';
import type { WorkerId } from '../domain/identity/ids.ts';
import type { EventSource } from '../domain/ports/events.ts';
import type { PinnedRoute } from '../domain/ports/pinned-route.ts';
import { newCallerId, privatePoolOf } from '../domain/identity/new-id.ts';
import { openStore } from '../operate/open-store.ts';
import { bootWorker, type WorkerParts } from './start-worker.ts';
import type { WorkerOptions } from './worker-settings.ts';

/**
 * The options of a worker. `pool` is the pool of modules that name no pool. It must be the same as in the fleet, whose workers publish
 * these modules, too.
 */
export type PinnedOptions = WorkerOptions & { readonly health?: false };

/** The pinned tools of this process. Pass it to `connect`, so that calls of these tools come to this process. */
export interface PinnedTools extends PinnedRoute {
  readonly workerId: WorkerId;
  readonly loaded: LoadResult;
  /** Diagnostic events of the calls that run here. */
  readonly events: EventSource;
  /** Takes no more calls, waits up to `graceMs` for those under way, and ends the rest, including those that still wait in the queue. */
  drain(): Promise<void>;
  /** Rejects when this process can serve its pinned tools no longer: its store was replaced, or its supervisor ended. */
  readonly failed: Promise<never>;
}

/**
 * Serves the tools pinned to their caller in this process, from a queue that no other process reads. They are published, identified, gated,
 * settled and audited like all others.
 */
export async function servePinned(options: PinnedOptions, parts: WorkerParts = { openStore }): Promise<PinnedTools> {
  const pool = privatePoolOf(newCallerId());
  const worker = await bootWorker({ ...options, health: false }, { pool }, parts);
  return {
    workerId: worker.workerId,
    get loaded() {
      return worker.loaded;
    },
    events: worker.events,
    poolOf: (tool) => (worker.serves(tool) ? pool : undefined),
    drain: () => worker.drain(),
    failed: worker.failed,
  };
}
