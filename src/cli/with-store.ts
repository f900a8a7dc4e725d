import { existsSync } from 'node:fs';
import { storeOptionsOf } from '../operate/store-options.ts';
import { openStore, type StoreOptions } from '../operate/open-store.ts';
import type { Config } from '../config/config-schema.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import type { AnyStore } from '../domain/ports/store.ts';
import { readPlaneAddress, storeFile } from '../stores/embedded/ownership.ts';
import { refuseLostStore } from '../stores/embedded/store-traces.ts';
import type { CommandContext } from './command-context.ts';
import { unavailable } from './command-failure.ts';
import { startCommand } from './start-command.ts';
import { readSecretFile } from './read-secret-file.ts';

/** How long a command tries to reach the server. It gives up sooner than a worker, because a person waits at the terminal. */
const COMMAND_PATIENCE_MS = 5000;

export function passwordOf(config: Config): string | undefined {
  const { passwordFile } = config.redis;
  return config.store === 'redis' && passwordFile !== undefined ? readSecretFile(passwordFile).trim() : undefined;
}

export function webhookSecretOf({ approvals }: Config): string | undefined {
  const { secretFile } = approvals.webhook;
  return secretFile === undefined ? undefined : readSecretFile(secretFile).trim();
}

export function traceHeadersOf({ telemetry: { traces } }: Config): string | undefined {
  return traces.enabled && traces.headersFile !== undefined ? readSecretFile(traces.headersFile) : undefined;
}

/**
 * Store options for one-shot commands. They never create an embedded store, because the folder could be wrong. Throws if there is none.
 * With `running`, also throws if no plane is running in the folder.
 */
export function commandStoreOptions(
  { config, sources }: LoadedConfig,
  needs: { readonly running?: boolean } = {},
): StoreOptions {
  if (config.store === 'redis') {
    const chosen = sources.get('redis.patienceMs')?.kind !== 'default';
    return storeOptionsOf(config, {
      password: passwordOf(config),
      ...(chosen ? {} : { patienceMs: Math.min(config.redis.patienceMs, COMMAND_PATIENCE_MS) }),
    });
  }
  if (!existsSync(storeFile(config.folder))) {
    refuseLostStore(config.folder);
    throw unavailable(
      `There is no store in ${config.folder}.`,
      `Start one with: ${startCommand(config)}. Or name another with --folder.`,
    );
  }
  if (needs.running === true && readPlaneAddress(config.folder) === undefined) {
    throw unavailable(`No plane is running in ${config.folder}.`, `Start it with: ${startCommand(config)}`);
  }
  return storeOptionsOf(config, {
    mode: needs.running === true ? 'connect' : 'auto',
    patienceMs: COMMAND_PATIENCE_MS,
  });
}

/** Throws if the Redis store does not exist. A command that only reads must not create a store: that would hide a wrong server or a wrong name. */
export async function refuseMissingStore(options: StoreOptions): Promise<void> {
  if (options.store !== 'redis') return;
  const { redisStoreExists, storeName } = await import('../operate/redis-store-exists.ts');
  if (await redisStoreExists(options.redis)) return;
  throw unavailable(
    `Nothing is stored under the name ${storeName(options.redis)} yet.`,
    'Start a worker with: sallyport worker --modules PATH. Or name another store with --redis or --redis-name.',
  );
}

type Use<Result> = (store: AnyStore, loaded: LoadedConfig) => Promise<Result>;

/** Opens an existing store for one command, and closes it afterwards, also after a failure. */
export async function withStore<Result>(context: CommandContext, use: Use<Result>): Promise<Result> {
  const loaded = context.loadConfig();
  const options = commandStoreOptions(loaded);
  await refuseMissingStore(options);
  return useStore(options, (store) => use(store, loaded));
}

/** Like `withStore`, for commands that may be the first to use a store on Redis: opening creates it. */
export async function withFoundedStore<Result>(context: CommandContext, use: Use<Result>): Promise<Result> {
  const loaded = context.loadConfig();
  return useStore(commandStoreOptions(loaded), (store) => use(store, loaded));
}

async function useStore<Result>(options: StoreOptions, use: (store: AnyStore) => Promise<Result>): Promise<Result> {
  const store = await openStore(options);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
