import type { HookHealth } from '../policy/hook.ts';
import type { WorkerId } from '../identity/ids.ts';
import type { BrokenModule } from '../tool/module.ts';
import type { UpstreamHealth } from '../upstream/health.ts';
import type { ServiceHealth } from '../tool/service.ts';

/** The live workers and what each of them serves. */
export interface FleetRegistry extends FleetMember, FleetReader {}

/** Registers a worker and keeps its entry alive. Called by that worker. */
export interface FleetMember {
  /**
   * Registers the worker for `ttlMs`. With thousands of tools an entry is large, so register again only when it changes, and use
   * `beatWorker` in between.
   */
  registerWorker(request: { worker: WorkerEntry; ttlMs: number }): Promise<void>;
  /** Extends the registration by `ttlMs`. `unknown`: it has expired, register again. */
  beatWorker(request: { worker: WorkerBeat; ttlMs: number }): Promise<'beaten' | 'unknown'>;
  deregisterWorker(workerId: WorkerId): Promise<void>;
}

/** Lists the live workers. */
export interface FleetReader {
  listWorkers(): Promise<WorkerEntry[]>;
}

/** The fields of a worker that are small or change often. */
export interface WorkerBeat {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly host: string;
  readonly pid: number;
  readonly release: string;
  readonly startedAt: number;
  readonly state: 'starting' | 'serving' | 'draining';
  readonly concurrency: number;
  readonly running: number;
  /** Tool runs that crashed their process, since the worker started. */
  readonly crashes: number;
  /** Health of its hooks; absent when it has none. */
  readonly hooks?: readonly HookHealth[];
  /** Health of its services; absent when it has none. */
  readonly services?: readonly ServiceHealth[];
  /** How its MCP servers stand; absent when it has none. */
  readonly upstreams?: readonly UpstreamHealth[];
}

export interface WorkerEntry extends WorkerBeat {
  readonly modules: readonly { readonly id: string; readonly digest: string }[];
  /** Digests of all tools that it serves; used to hand calls back during a rolling deploy. */
  readonly toolDigests: readonly string[];
  readonly broken: readonly BrokenModule[];
}
