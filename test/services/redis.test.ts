import { openRedisScopes } from '../../src/worker/services/storage/redis/open-redis.ts';
import { startRedis } from '../support/redis-server.ts';
import { describeServicesContract } from './contract.ts';

describeServicesContract('redis', async () => {
  const server = await startRedis();
  return { open: () => openRedisScopes({ url: server.url, name: 'services-test' }), destroy: () => server.stop() };
});
