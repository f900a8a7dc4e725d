import type { LoadedModule, LoadResult } from '../modules/catalog/loaded-module.ts';
import type { ServiceHealth } from '../domain/tool/service.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import type { Log } from '../domain/ports/log.ts';
import { loadServices, type ServiceEntries } from '../worker/services/load-services.ts';
import { readSecret, type SecretSource } from '../worker/services/read-secret.ts';
import { createServiceRegistry, type ServiceRegistry } from '../worker/services/registry.ts';
import { openEmbeddedScopes } from '../worker/services/storage/embedded/open-embedded.ts';
import type { ScopedStore } from '../worker/services/storage/scoped-store.ts';
import type { StoreOptions } from '../operate/open-store.ts';

const HEALTH_EVERY_MS = 5000;

export interface WorkerServicesOptions {
  readonly entries: ServiceEntries;
  readonly store: StoreOptions;
  readonly secret?: SecretSource | undefined;
  readonly log: Log;
}

/** Loads the services without starting them: modules must first declare what they need. */
export async function createWorkerServices(options: WorkerServicesOptions): Promise<ServiceRegistry> {
  const { entries, store, secret = readSecret, log } = options;
  const services = await loadServices(entries);
  return createServiceRegistry({ services, openStorage: () => openScopes(store), secret, log });
}

/** Opens the storage of the services. Loads the Redis client only if the store is Redis: loading code takes most of the time of a start. */
async function openScopes(options: StoreOptions): Promise<ScopedStore> {
  if (options.store === 'redis') {
    const { openRedisScopes } = await import('../worker/services/storage/redis/open-redis.ts');
    return openRedisScopes(options.redis);
  }
  return openEmbeddedScopes(options.folder ?? DEFAULT_FOLDER);
}

/** Moves modules that need a service which is not configured to `broken`, with the reason. The other modules are served. */
export function refuseUnmetNeeds({ modules, broken }: LoadResult, known: readonly string[]): LoadResult {
  const missing = (module: LoadedModule): string | undefined => module.needs?.find((name) => !known.includes(name));
  const refused = modules.flatMap((module) => {
    const name = missing(module);
    if (name === undefined) return [];
    const reason = `It needs the service "${name}", which is not configured; there are: ${known.join(', ') || 'none'}.`;
    return [{ id: module.declaration.id, file: module.file, reason }];
  });
  return refused.length === 0
    ? { modules, broken }
    : { modules: modules.filter((module) => missing(module) === undefined), broken: [...broken, ...refused] };
}

/** The services to start: those that are configured and enabled, and those that a module to be served needs. */
export function wantedServices(entries: ServiceEntries, modules: readonly LoadedModule[]): Set<string> {
  const configured = Object.keys(entries).filter((name) => entries[name]?.enabled !== false);
  return new Set([...configured, ...modules.flatMap(({ needs = [] }) => needs)]);
}

/** Checks the health of the services every few seconds, and calls `onHealth` with each result. */
export function watchHealth(
  registry: ServiceRegistry,
  onHealth: (health: readonly ServiceHealth[]) => void,
): { stop(): Promise<void> } {
  let looking: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => onHealth(await registry.checkHealth());
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, HEALTH_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
