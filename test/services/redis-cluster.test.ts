import { openRedisScopes } from '../../src/worker/services/storage/redis/open-redis.ts';
import { startRedis } from '../support/redis-server.ts';
import { describeServicesContract } from './contract.ts';

describeServicesContract('redis cluster', async () => {
  const server = await startRedis({ cluster: true });
  return {
    open: () => openRedisScopes({ cluster: [{ host: '127.0.0.1', port: server.port }], name: 'services-test' }),
    destroy: () => server.stop(),
  };
});
