import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import {
  acceptOne,
  acceptRequest,
  claimOne,
  newWaiter,
  openSession,
  POOL,
  settleRequest,
} from '../contract/fixtures.ts';
import { drainReplies } from '../contract/observe.ts';
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

/** A proxy to the real server that changes the version in its answers, because no server of such an old release is available here. */
async function startOlder(port: number, version: string): Promise<{ url: string; stop(): void }> {
  const aging = () =>
    new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const text = chunk.toString('latin1');
        // The text keeps its length, because the answer states that length.
        const older = text.replace(/redis_version:[\d.]+/, (found) =>
          `redis_version:${version}`.padEnd(found.length, '0'),
        );
        done(null, Buffer.from(older, 'latin1'));
      },
    });
  const door = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    const ends = [pipeline(client, server), pipeline(server, aging(), client)];
    for (const end of ends) end.catch(() => undefined);
  });
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  return { url: `redis://127.0.0.1:${(door.address() as AddressInfo).port}`, stop: () => void door.close() };
}

describe('start-up refuses a server that would lose calls', () => {
  it('that is too old', async () => {
    await onServer({}, async (url, server) => {
      const older = await startOlder(Number(new URL(url).port), '6.2.1');
      await expect(openRedisStore({ url: older.url })).rejects.toMatchObject({ code: 'STORE_UNSAFE' });
      await expect(openRedisStore({ url: older.url })).rejects.toThrow(/version is 6\.2\.1\d*, needs 7\.0/);
      expect(await server.cli('DBSIZE')).toBe('0');
      older.stop();
    });
  });

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

  it('reports that no server listens, without the password', async () => {
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
  it('stops every process after FLUSHALL, and nothing is made anew', async () => {
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

describe('an audit that cannot be written', () => {
  it('holds the reply back: no waiter gets an ending that is in no audit', async () => {
    await onServer({}, async (url, server) => {
      const store = await openRedisStore({ url });
      const session = await openSession(store);
      const waiter = newWaiter();
      await acceptOne(store, session, { waiter });
      const delivery = await claimOne(store, { lane: 0 });
      await server.cli('SET', '{sallyport:0}:journal', 'of another type');
      await expect(store.settleCall(settleRequest(delivery))).rejects.toThrow('WRONGTYPE');
      expect(await drainReplies(store, 0, waiter.callerId)).toEqual([]);
      expect(await store.readCall(delivery.callId)).toMatchObject({ state: 'queued' });
      await server.cli('DEL', '{sallyport:0}:journal');
      expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
      expect(await store.readAudit({ lane: 0, fromSequence: 1, limit: 10 })).toMatchObject([{ event: 'call.settled' }]);
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
      expect(refused).toMatchObject({ kind: 'overloaded', what: 'the store cannot write now' });
      expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
      await server.cli('CONFIG', 'SET', 'maxmemory', '0');
      expect(await store.acceptCall(acceptRequest(session, { key: 'new' }))).toMatchObject({ kind: 'accepted' });
      await store.close();
    });
  });
});
