import { afterAll, beforeAll } from 'vitest';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { describeStoreContract } from './contract.ts';
import { createRedisBackend } from './redis-backend.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await server.stop();
});

describeStoreContract('redis', () => createRedisBackend(server));
