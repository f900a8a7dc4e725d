import type { StoreOptions } from '../operate/open-store.ts';

/** Store options that can be passed to a thread. The embedded store has one owner, so the supervisor connects to that owner. */
export function supervisorStore(options: StoreOptions): StoreOptions {
  if (options.store === 'redis') return { store: 'redis', redis: options.redis };
  const { folder } = options;
  return { store: 'embedded', mode: 'connect', ...(folder === undefined ? {} : { folder }) };
}
