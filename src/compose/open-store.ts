import type { Store } from '../ports/store.ts';
import { openEmbeddedStore, type EmbeddedStoreOptions } from '../stores/embedded/embedded-store.ts';
import { openRedisStore, type RedisStoreOptions } from '../stores/redis/redis-store.ts';

/** Where everything durable is. Plain data: it is handed to threads and child processes. */
export type StoreOptions =
  | ({ readonly store: 'embedded' } & EmbeddedStoreOptions)
  | { readonly store: 'redis'; readonly redis: RedisStoreOptions };

export function openStore(options: StoreOptions): Promise<Store> {
  return options.store === 'redis' ? openRedisStore(options.redis) : openEmbeddedStore(options);
}
