import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import type { RedisServer } from '../support/redis-server.ts';
import type { Backend } from './scene.ts';

/** A separate deployment on a shared server: its name separates it from every other test. */
export async function createRedisBackend(server: RedisServer, { cluster = false } = {}): Promise<Backend> {
  const name = `contract-${randomId()}`;
  const place = cluster ? { cluster: [{ host: '127.0.0.1', port: server.port }], lanes: 16 } : { url: server.url };
  return {
    open: () => openRedisStore({ ...place, name }),
    replaceData: async () => {
      await server.cli('FLUSHALL');
    },
    destroy: async () => {
      await server.cli('FLUSHALL');
    },
  };
}
