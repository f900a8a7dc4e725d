import type { JsonObject } from '../domain/json.ts';
import type { ServiceCaller, ServiceHealth } from '../domain/service.ts';
import type { Log } from '../ports/log.ts';
import type { ScopedStore } from './storage/scoped-store.ts';

/**
 * A service: started before the worker shows any tool, stopped after its last call has ended. What tools get of it is made for each
 * call by `open`, and names its methods here: arguments and answers are JSON, wherever the tool runs.
 */
export interface ServiceDefinition {
  /** What tools may call. */
  readonly methods: readonly string[];
  /** Services that are started before this one, and stopped after it. */
  readonly needs?: readonly string[];
  /** The same, for those that are configured. */
  readonly uses?: readonly string[];
  /** Throws when it cannot serve; then nothing is served. */
  start(context: ServiceContext): RunningService | Promise<RunningService>;
}

export interface ServiceContext {
  readonly name: string;
  /** `config` of its entry in the configuration. */
  readonly config: JsonObject;
  /** `api` of the services it needs and uses. */
  readonly services: Readonly<Record<string, unknown>>;
  readonly log: Log;
  /** What a reference in the configuration stands for: `env:NAME`, `file:PATH` or `secret:NAME`. */
  readonly secret: (reference: string) => Promise<string>;
  /** A place for documents in the plane's store. Opened when it is first asked for, closed after all services have stopped. */
  readonly storage: () => Promise<ScopedStore>;
}

export interface RunningService {
  /** Called at the first use by a call. Bind everything to `call`: the methods get nothing else about who asks. */
  open(call: ServiceCall): ServiceHandle;
  /** For other services. */
  readonly api?: unknown;
  /** Asked every few seconds; absent means always well. */
  health?(): Omit<ServiceHealth, 'service'> | Promise<Omit<ServiceHealth, 'service'>>;
  stop?(): void | Promise<void>;
}

export interface ServiceCall extends ServiceCaller {
  /** Aborted when the request's time is up or the call ends. */
  readonly signal: AbortSignal;
  /** A new one each time, and the same ones again when the call is run again. */
  readonly nextKey: () => string;
}

// Each method checks what it is given: JSON of an unknown shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type ServiceHandle = Readonly<Record<string, (...args: any[]) => unknown>>;

/** The default export of a service file. */
export function defineService(definition: ServiceDefinition): ServiceDefinition {
  return Object.freeze({ ...definition });
}
