import { planeError, PlaneError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ServiceHealth } from '../../domain/tool/service.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { ServiceOpener } from '../../domain/ports/service-access.ts';
import type { RunningService, ServiceDefinition } from './define-service.ts';
import { openAccess } from './open-access.ts';
import { orderServices } from './order-services.ts';
import type { SecretSource } from './read-secret.ts';
import type { ScopedStore } from './storage/scoped-store.ts';
import { storeOfService } from './storage/store-of-service.ts';

export interface ConfiguredService {
  readonly definition: ServiceDefinition;
  readonly config: JsonObject;
}

export interface RegistryParts {
  readonly services: ReadonlyMap<string, ConfiguredService>;
  readonly openStorage: () => Promise<ScopedStore>;
  readonly secret: SecretSource;
  readonly log: Log;
}

/** The services of one worker. */
export interface ServiceRegistry extends ServiceOpener {
  /** Names of all services that a module can ask for. */
  readonly known: readonly string[];
  /**
   * Starts these services and their dependencies, dependencies first, unless they already run. If one fails to start, the services that this call
   * started are stopped again, last one first.
   */
  start(names: Iterable<string>): Promise<void>;
  /** The result of the last health check. */
  readonly health: readonly ServiceHealth[];
  checkHealth(): Promise<readonly ServiceHealth[]>;
  /** Stops all services, the last one started first. A service that fails or hangs does not keep the others from stopping. */
  stop(): Promise<void>;
}

const START_MS = 30_000;
const STOP_MS = 10_000;
const HEALTH_MS = 3000;

export function createServiceRegistry(parts: RegistryParts): ServiceRegistry {
  const { log } = parts;
  const dependents = new Map(
    [...parts.services].map(([name, { definition }]) => [
      name,
      { needs: definition.needs ?? [], uses: definition.uses ?? [] },
    ]),
  );
  const running = new Map<string, RunningService>();
  let storage: Promise<ScopedStore> | undefined;
  let health: readonly ServiceHealth[] = [];

  async function startOne(name: string): Promise<void> {
    const { definition, config } = parts.services.get(name)!;
    const { needs, uses } = dependents.get(name)!;
    const services = Object.fromEntries([...needs, ...uses].map((other) => [other, running.get(other)?.api]));
    const context = {
      name,
      config,
      services,
      log,
      secret: parts.secret,
      storage: async () => storeOfService(name, await (storage ??= parts.openStorage())),
    };
    const starting = Promise.resolve().then(() => definition.start(context));
    const started = await within(starting, START_MS, `it was not ready within ${START_MS / 1000} s`).catch(
      (error: unknown) => {
        // The service may still start after the timeout. Stop it then: nothing else would ever stop it.
        starting.then((late) => stopOne(name, late)).catch(() => undefined);
        throw error;
      },
    );
    const missing = typeof started?.open === 'function' ? undefined : 'start() gave no service';
    if (missing !== undefined) throw new Error(missing);
    running.set(name, started);
    log.info({ service: name }, 'service started');
  }

  async function stopOne(name: string, service: RunningService): Promise<void> {
    try {
      await within(Promise.resolve(service.stop?.()), STOP_MS, `it did not stop within ${STOP_MS / 1000} s`);
      log.info({ service: name }, 'service stopped');
    } catch (error) {
      log.warn({ service: name, error }, 'service not stopped');
    }
  }

  async function stop(names: readonly string[]): Promise<void> {
    for (const name of names.toReversed()) {
      const service = running.get(name);
      running.delete(name);
      if (service !== undefined) await stopOne(name, service);
    }
    if (running.size > 0) return;
    const opened = storage;
    storage = undefined;
    await opened?.then((store) => store.close()).catch(() => undefined);
  }

  async function checkOne([service, one]: readonly [string, RunningService]): Promise<ServiceHealth> {
    try {
      const answer = await within(Promise.resolve(one.health?.()), HEALTH_MS, 'it does not answer');
      return { service, state: 'ok', ...answer };
    } catch (error) {
      return { service, state: 'failed', detail: textOf(error) };
    }
  }

  return {
    known: [...parts.services.keys()].sort(),
    async start(names) {
      const order = orderServices(dependents, names).filter((one) => !running.has(one));
      for (const name of order) {
        try {
          await startOne(name);
        } catch (error) {
          await stop(order);
          // An error of the store has its own fix and is not the fault of a service, so it is passed on unchanged.
          if (error instanceof PlaneError && /^(?:SERVICES_INVALID$|STORE_)/.test(error.code)) throw error;
          throw planeError('SERVICE_FAILED', { service: name, problem: textOf(error) }, error);
        }
      }
    },
    get health() {
      return health;
    },
    async checkHealth() {
      const checked = await Promise.all([...running].map(checkOne));
      for (const { service, state, detail } of checked) {
        const before = health.find((one) => one.service === service)?.state ?? 'ok';
        if (state !== before) log[state === 'ok' ? 'info' : 'warn']({ service, state, detail }, 'service changed');
      }
      return (health = checked);
    },
    stop: () => stop([...running.keys()]),
    open(needs, caller) {
      const offered = needs.flatMap((name) => {
        const service = running.get(name);
        return service === undefined ? [] : [{ name, service, methods: parts.services.get(name)!.definition.methods }];
      });
      return openAccess(offered, caller, log);
    },
  };
}

async function within<Value>(work: Promise<Value>, limitMs: number, problem: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the message of an error without the final period, cut to 300 characters, for the end of a sentence. */
function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\.$/, '').slice(0, 300);
}
