import type { JsonObject } from '../../base/json.ts';
import type { ServiceCaller, ServiceHealth } from '../../domain/tool/service.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { ScopedStore } from './storage/scoped-store.ts';

/**
 * A service starts before the worker shows any tool, and stops after the worker's last call has ended. `open` makes the handle that tools use.
 * `methods` names what they can call. Arguments and answers are JSON, in every runner.
 */
export interface ServiceDefinition {
  /** Names of the methods that tools may call. */
  readonly methods: readonly string[];
  /** Services that start before this one, and stop after it. */
  readonly needs?: readonly string[];
  /** Like `needs`, but only if the service is configured. */
  readonly uses?: readonly string[];
  /** Throws when the service cannot work; then the worker serves nothing. */
  start(context: ServiceContext): RunningService | Promise<RunningService>;
}

export interface ServiceContext {
  readonly name: string;
  /** The member `config` of the service's entry in the configuration. */
  readonly config: JsonObject;
  /** The `api` of each service that this one needs or uses. */
  readonly services: Readonly<Record<string, unknown>>;
  readonly log: Log;
  /** Returns the value of a reference in the configuration: `env:NAME`, `file:PATH` or `secret:NAME`. */
  readonly secret: (reference: string) => Promise<string>;
  /** A place for documents in the plane's store. It is opened at the first use, and closed after all services have stopped. */
  readonly storage: () => Promise<ScopedStore>;
}

export interface RunningService {
  /** Called for each request of a call. Bind the handle to `call`: the methods get no other information about the caller. */
  open(call: ServiceCall): ServiceHandle;
  /** What other services can use of this one. */
  readonly api?: unknown;
  /** Called every few seconds. Without this method the service counts as healthy. */
  health?(): Omit<ServiceHealth, 'service'> | Promise<Omit<ServiceHealth, 'service'>>;
  stop?(): void | Promise<void>;
}

export interface ServiceCall extends ServiceCaller {
  /** Aborted when the request times out or the call ends. */
  readonly signal: AbortSignal;
  /** Returns a new key each time. When the call is run again, it gets the same keys in the same order. */
  readonly nextKey: () => string;
}

// Each method checks its arguments: they are JSON of an unknown shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type ServiceHandle = Readonly<Record<string, (...args: any[]) => unknown>>;

/** Makes the default export of a service file. */
export function defineService(definition: ServiceDefinition): ServiceDefinition {
  return Object.freeze({ ...definition });
}
