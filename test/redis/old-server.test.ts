import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

describe('start-up refuses a server', () => {
  let redis: RedisServer;
  let between: Server;
  const sockets = new Set<Socket>();

  // A real server that only says of itself that it is older: the versions before 7 are not to be had everywhere.
  beforeAll(async () => {
    redis = await startRedis();
    between = createServer((caller) => {
      const server = connect(redis.port, '127.0.0.1');
      for (const socket of [caller, server]) sockets.add(socket.on('error', () => undefined));
      caller.pipe(server);
      server.on('data', (bytes) => {
        const said = bytes.toString('latin1').replace(/redis_version:\d/, 'redis_version:6');
        caller.write(Buffer.from(said, 'latin1'));
      });
      server.on('close', () => caller.destroy());
    });
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => between.close(resolve));
    await redis.stop();
  });

  it('that is too old, and writes nothing to it', async () => {
    const opening = openRedisStore({ url: `redis://127.0.0.1:${(between.address() as AddressInfo).port}` });
    await expect(opening).rejects.toMatchObject({ code: 'STORE_UNSAFE' });
    await expect(opening).rejects.toThrow(/version is 6\S*, needs 7\.0 or newer/);
    expect(await redis.cli('DBSIZE')).toBe('0');
  });
});
