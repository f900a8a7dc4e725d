import type { Config } from '../config/config-schema.ts';
import type { RedisStoreOptions } from '../stores/redis/redis-options.ts';
import type { StoreOptions } from './open-store.ts';

/** Store settings that the configuration does not contain: the content of a password file, and how this process uses the store. */
export interface StoreUse {
  readonly password?: string | undefined;
  readonly mode?: 'own' | 'connect' | 'auto';
  readonly patienceMs?: number;
}

export function storeOptionsOf(config: Config, use: StoreUse = {}): StoreOptions {
  if (config.store === 'redis') return { store: 'redis', redis: redisOptionsOf(config, use) };
  const patience = use.patienceMs === undefined ? {} : { patienceMs: use.patienceMs };
  return { store: 'embedded', folder: config.folder, mode: use.mode ?? 'auto', ...patience };
}

function redisOptionsOf({ redis }: Config, use: StoreUse = {}): RedisStoreOptions {
  const { tls, passwordFile: _, patienceMs, password = use.password, ...rest } = redis;
  const { enabled, ...files } = defined(tls);
  const encrypted = enabled || Object.keys(files).length > 0;
  return {
    ...defined(rest),
    ...(password === undefined ? {} : { password }),
    ...(encrypted ? { tls: files } : {}),
    patienceMs: use.patienceMs ?? patienceMs,
  };
}

type Defined<Given> = { [Name in keyof Given]: Exclude<Given[Name], undefined> };

/** Removes members that are undefined. Absent and undefined mean the same in a configuration, but not in options. */
function defined<Given extends object>(given: Given): Defined<Given> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Defined<Given>;
}
