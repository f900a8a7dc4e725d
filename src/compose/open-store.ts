import type { Store } from '../ports/store.ts';
import type { EmbeddedStoreOptions } from '../stores/embedded/embedded-store.ts';
import type { RedisStoreOptions } from '../stores/redis/redis-options.ts';

/** Where everything durable is. Plain data: it is handed to threads and child processes. */
export type StoreOptions =
  | ({ readonly store: 'embedded' } & EmbeddedStoreOptions)
  | { readonly store: 'redis'; readonly redis: RedisStoreOptions };

/** Loads only the store that is asked for: a command's start is mostly loading. */
export async function openStore(options: StoreOptions): Promise<Store> {
  if (options.store === 'redis') {
    const { openRedisStore } = await import('../stores/redis/redis-store.ts');
    return openRedisStore(options.redis);
  }
  const { openEmbeddedStore } = await import('../stores/embedded/embedded-store.ts');
  return openEmbeddedStore(options);
}
