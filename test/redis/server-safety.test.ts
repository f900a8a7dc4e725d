import { describe, expect, it } from 'vitest';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { acceptOne, acceptRequest, claimOne, openSession, POOL, settleRequest } from '../contract/fixtures.ts';
import { startRedis } from '../support/redis-server.ts';

/** Opens a store on a server started with these settings, and always stops the server. */
async function onServer<T>(
  options: Parameters<typeof startRedis>[0],
  work: (url: string, server: Awaited<ReturnType<typeof startRedis>>) => Promise<T>,
) {
  const server = await startRedis(options);
  try {
    return await work(server.url, server);
  } finally {
    await server.stop();
  }
}

describe('start-up refuses a server that would lose calls', () => {
  it.each([
    { why: 'without an append-only file', options: { appendonly: false }, part: 'appendonly is no' },
    { why: 'that evicts', options: { maxmemoryPolicy: 'allkeys-lru' }, part: 'maxmemory-policy is allkeys-lru' },
  ])('$why', async ({ options, part }) => {
    await onServer(options, async (url, server) => {
      await expect(openRedisStore({ url })).rejects.toMatchObject({ code: 'STORE_UNSAFE' });
      await expect(openRedisStore({ url })).rejects.toThrow(part);
      expect(await server.cli('DBSIZE')).toBe('0');
    });
  });

  it('says that nobody listens, without the password', async () => {
    const opening = openRedisStore({ url: 'redis://user:hunter2@127.0.0.1:1', patienceMs: 300 });
    await expect(opening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(opening).rejects.not.toThrow('hunter2');
  });

  it('refuses another number of lanes than the store has', async () => {
    await onServer({}, async (url) => {
      await (await openRedisStore({ url, lanes: 4 })).close();
      await expect(openRedisStore({ url, lanes: 8 })).rejects.toMatchObject({ code: 'STORE_LANES' });
    });
  });

  it('refuses a store of an unknown schema version', async () => {
    await onServer({}, async (url, server) => {
      await (await openRedisStore({ url })).close();
      await server.cli('HSET', '{sallyport}:incarnation', 'schema', '99');
      await expect(openRedisStore({ url })).rejects.toMatchObject({ code: 'STORE_VERSION' });
    });
  });
});

describe('a store that was replaced', () => {
  it('stops everybody after FLUSHALL, and nothing is made anew', async () => {
    await onServer({}, async (url, server) => {
      const store = await openRedisStore({ url });
      const session = await openSession(store);
      await acceptOne(store, session);
      const delivery = await claimOne(store, { lane: 0 });
      await server.cli('FLUSHALL');
      await expect(store.acceptCall(acceptRequest(session))).rejects.toMatchObject({ code: 'STORE_REPLACED' });
      await expect(store.settleCall(settleRequest(delivery))).rejects.toMatchObject({ code: 'STORE_REPLACED' });
      const claiming = store.claimCalls({ lane: 0, pool: POOL, workerId: delivery.workerId, limit: 1, waitMs: 50 });
      await expect(claiming).rejects.toMatchObject({ code: 'STORE_REPLACED' });
      await expect(store.checkIncarnation()).rejects.toMatchObject({ code: 'STORE_REPLACED' });
      expect(await server.cli('DBSIZE')).toBe('0');
      await store.close();
    });
  });

  it('is noticed when older data took its place', async () => {
    await onServer({}, async (url, server) => {
      const store = await openRedisStore({ url });
      const session = await openSession(store);
      await acceptOne(store, session);
      const delivery = await claimOne(store, { lane: 0 });
      await store.settleCall(settleRequest(delivery));
      const { workerId } = delivery;
      await store.claimCalls({ lane: 0, pool: POOL, workerId, limit: 1, waitMs: 0 });
      // What a restored backup looks like: the same incarnation, a lower audit sequence.
      await server.cli('HSET', '{sallyport:0}:meta', 'auditSequence', '0');
      const claiming = store.claimCalls({ lane: 0, pool: POOL, workerId, limit: 1, waitMs: 0 });
      await expect(claiming).rejects.toMatchObject({ code: 'STORE_REPLACED' });
      await store.close();
    });
  });
});

describe('at the memory limit', () => {
  it('accept is refused as overloaded while settle and cancel still work', async () => {
    await onServer({}, async (url, server) => {
      const store = await openRedisStore({ url });
      const session = await openSession(store);
      await acceptOne(store, session, { key: 'held' });
      const delivery = await claimOne(store, { lane: 0 });
      await server.cli('CONFIG', 'SET', 'maxmemory', '1');
      const refused = await store.acceptCall(acceptRequest(session, { key: 'new' }));
      expect(refused).toMatchObject({ kind: 'overloaded', what: 'memory of the store' });
      expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
      await server.cli('CONFIG', 'SET', 'maxmemory', '0');
      expect(await store.acceptCall(acceptRequest(session, { key: 'new' }))).toMatchObject({ kind: 'accepted' });
      await store.close();
    });
  });
});
