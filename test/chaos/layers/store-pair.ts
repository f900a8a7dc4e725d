import type { LayerOptions } from '../../../chaos/layers/layer.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { createEmbeddedBackend } from '../../contract/embedded-backend.ts';
import { createRedisBackend } from '../../contract/redis-backend.ts';
import { startRedis } from '../../support/redis-server.ts';

/** Runs `use` on a new store with two connections, then deletes the store. */
export async function withStorePair<T>(
  kind: LayerOptions['store'],
  use: (handles: [Store, Store]) => Promise<T>,
): Promise<T> {
  const server = kind === 'redis' ? await startRedis() : undefined;
  const backend = server === undefined ? await createEmbeddedBackend() : await createRedisBackend(server);
  const handles: Store[] = [];
  try {
    for (let count = 0; count < 2; count += 1) handles.push(await backend.open());
    return await use(handles as [Store, Store]);
  } finally {
    // The first connection may serve the second, so it is closed last.
    for (const handle of handles.reverse()) await handle.close();
    await backend.destroy();
    await server?.stop();
  }
}
