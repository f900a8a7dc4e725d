import type { AnyStore } from '../domain/ports/store.ts';
import type { EmbeddedStoreOptions } from '../stores/embedded/embedded-store.ts';
import type { RedisStoreOptions } from '../stores/redis/redis-options.ts';

/** Where everything durable is stored. Plain data, because it is passed to threads and child processes. */
export type StoreOptions =
  | ({ readonly store: 'embedded' } & EmbeddedStoreOptions)
  | { readonly store: 'redis'; readonly redis: RedisStoreOptions };

/** Opens the store. Loads only the code of the store that is asked for, because loading code takes most of a command's start time. */
export async function openStore(options: StoreOptions): Promise<AnyStore> {
  if (options.store === 'redis') {
    const { openRedisStore } = await import('../stores/redis/redis-store.ts');
    return openRedisStore(options.redis);
  }
  const { openEmbeddedStore } = await import('../stores/embedded/embedded-store.ts');
  return openEmbeddedStore(options);
}
