import type { HookHealth } from '../domain/hook.ts';
import type { WorkerId } from '../domain/ids.ts';
import type { BrokenModule } from '../domain/module.ts';
import type { ServiceHealth } from '../domain/service.ts';

/** Who is alive and what it serves. */
export interface FleetRegistry {
  /** Valid for `ttlMs`. With thousands of tools an entry is large: repeat it when it changes, and beat in between. */
  registerWorker(request: { worker: WorkerEntry; ttlMs: number }): Promise<void>;
  /** Keeps the registration for `ttlMs` more. `unknown`: it has run out, register again. */
  beatWorker(request: { worker: WorkerBeat; ttlMs: number }): Promise<'beaten' | 'unknown'>;
  deregisterWorker(workerId: WorkerId): Promise<void>;
  listWorkers(): Promise<WorkerEntry[]>;
}

/** What is small, or changes all the time. */
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
  /** Runs of tools that ended their process, since the start. */
  readonly crashes: number;
  /** How its hooks are doing; absent when it has none. */
  readonly hooks?: readonly HookHealth[];
  /** How its services are doing; absent when it has none. */
  readonly services?: readonly ServiceHealth[];
}

export interface WorkerEntry extends WorkerBeat {
  readonly modules: readonly { readonly id: string; readonly digest: string }[];
  /** Digests of all tools it serves, for handing calls back during a rolling deploy. */
  readonly toolDigests: readonly string[];
  readonly broken: readonly BrokenModule[];
}
