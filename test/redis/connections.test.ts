import { Cluster, Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { openConnection } from '../../src/stores/redis/connection.ts';
import type { RedisConnectionOptions } from '../../src/stores/redis/redis-options.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { newCallerId } from '../../src/domain/identity/new-id.ts';
import { acceptOne, acceptRequest, claimOne, openSession, settleRequest } from '../contract/fixtures.ts';
import { startChaosProxy } from '../support/chaos-proxy.ts';
import { startSentinel } from '../support/redis-sentinel.ts';
import { startRedis } from '../support/redis-server.ts';
import { makeTlsFiles } from '../support/tls-files.ts';

/** One call from accept to reply. */
async function roundTrip(store: Store): Promise<void> {
  const session = await openSession(store);
  await acceptOne(store, session);
  const delivery = await claimOne(store, { lane: session.lane });
  expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
}

/** Emits two errors on one socket. Without a listener, an error would be thrown here, and would end a worker. */
async function outliveTwoErrors(place: Omit<RedisConnectionOptions, 'commandTimeoutMs'>): Promise<void> {
  const connection = openConnection({ ...place, commandTimeoutMs: 10_000 }, 'commands');
  try {
    // On a busy machine the first request for the nodes of a cluster may take too long; the library then tries again.
    const ready = new Promise<void>((resolve) => connection.once('ready', resolve));
    connection.connect().catch(() => undefined);
    await ready;
    await connection.ping();
    const node = connection instanceof Cluster ? connection.nodes()[0] : connection;
    const { stream } = node as unknown as { stream: NodeJS.EventEmitter };
    for (const nth of ['first', 'second']) stream.emit('error', new Error(`the ${nth} error of this socket`));
  } finally {
    connection.disconnect();
  }
}

describe('the Redis store over TLS', () => {
  it('works with the server’s CA and is refused without it, or with another', async () => {
    const tls = await makeTlsFiles();
    const stranger = await makeTlsFiles();
    const server = await startRedis({ tls });
    try {
      const store = await openRedisStore({ url: server.url, tls: { caFile: tls.caFile } });
      await roundTrip(store);
      await store.close();
      for (const wrong of [{}, { tls: {} }, { tls: { caFile: stranger.caFile } }]) {
        const untrusting = openRedisStore({ url: server.url, patienceMs: 500, ...wrong });
        await expect(untrusting).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      }
    } finally {
      await server.stop();
      tls.remove();
      stranger.remove();
    }
  });

  it('survives a second error of the same socket', async () => {
    const tls = await makeTlsFiles();
    const server = await startRedis({ tls });
    try {
      const place = { url: server.url, tls: { caFile: tls.caFile } };
      await expect(outliveTwoErrors(place)).resolves.toBeUndefined();
    } finally {
      await server.stop();
      tls.remove();
    }
  });

  it('survives a second error of the same socket of a cluster', async () => {
    const server = await startRedis({ cluster: true });
    try {
      const place = { cluster: [{ host: '127.0.0.1', port: server.port }] };
      await expect(outliveTwoErrors(place)).resolves.toBeUndefined();
    } finally {
      await server.stop();
    }
  });
});

describe('the Redis store whose first commands are cut off', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('opens all the same: number %i', async (nth) => {
    const server = await startRedis();
    const proxy = await startChaosProxy({ port: server.port });
    try {
      await proxy.setMode({ kind: 'drop-reply', request: () => true, nth });
      const store = await openRedisStore({ url: proxy.url });
      await roundTrip(store);
      await store.close();
    } finally {
      await proxy.stop();
      await server.stop();
    }
  });
});

/** WAIT covers only writes of its own connection, so one is made here. All writes before it have reached the replica by then too. */
async function untilReplicated(url: string): Promise<void> {
  const connection = new Redis(url);
  await connection.set('replicated', 'up to here');
  expect(await connection.wait(1, 5000)).toBe(1);
  connection.disconnect();
}

describe('the Redis store behind Sentinel', () => {
  it('goes on after the primary was killed and the replica promoted', async () => {
    const group = await startSentinel();
    const store = await openRedisStore({ sentinels: group.sentinels, sentinelName: group.name, patienceMs: 30_000 });
    try {
      await roundTrip(store);
      // Replication is asynchronous: what the replica does not have yet would be lost, as docs/failure.md says.
      await untilReplicated(group.firstPrimary.url);
      const before = await group.currentPrimary();
      await group.killPrimary();
      const session = openSession(store);
      await group.waitForFailover(before);
      const opened = await session;
      await acceptOne(store, opened);
      expect((await store.listCalls({ limit: 10 })).length).toBe(1);
    } finally {
      await store.close();
      await group.stop();
    }
  });
});

describe('a flushed function library', () => {
  it('is loaded again by the next process that needs it', async () => {
    const server = await startRedis();
    const store = await openRedisStore({ url: server.url });
    await roundTrip(store);
    await server.cli('FUNCTION', 'FLUSH');
    await roundTrip(store);
    await store.close();
    await server.stop();
  });
});

describe('a lost answer', () => {
  it('of accept never makes a second call: every k-th reply swallowed, no duplicates', async () => {
    const server = await startRedis();
    const proxy = await startChaosProxy({ port: server.port });
    const store = await openRedisStore({ url: proxy.url, commandTimeoutMs: 2000 });
    const session = await openSession(store);
    for (let k = 0; k < 40; k += 1) {
      await proxy.setMode({ kind: 'drop-reply', request: 'sp1_accept_calls' });
      const answer = await store.acceptCall(acceptRequest(session, { key: `k${k}` }));
      expect(['accepted', 'attached']).toContain(answer.kind);
    }
    expect(proxy.counts.droppedReplies).toBe(40);
    expect(await server.cli('XLEN', '{sallyport:0}:pool:main')).toBe('40');
    await store.close();
    await proxy.stop();
    await server.stop();
  });

  it('of settle is settled once, and the worker learns it', async () => {
    const server = await startRedis();
    const proxy = await startChaosProxy({ port: server.port });
    const store = await openRedisStore({ url: proxy.url, commandTimeoutMs: 2000 });
    const session = await openSession(store);
    for (let k = 0; k < 10; k += 1) {
      await acceptOne(store, session, { key: `k${k}` });
      const delivery = await claimOne(store, { lane: 0 });
      await proxy.setMode({ kind: 'drop-reply', request: 'sp1_settle_calls' });
      expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
    }
    expect(proxy.counts.droppedReplies).toBe(10);
    const audit = await store.readAudit({ lane: 0, fromSequence: 1, limit: 100 });
    expect(audit.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 11 }, (_, index) => index + 1));
    await store.close();
    await proxy.stop();
    await server.stop();
  });

  it('blocks no request: a server that never answers ends in STORE_UNAVAILABLE after the patience', async () => {
    const server = await startRedis();
    const proxy = await startChaosProxy({ port: server.port });
    const store = await openRedisStore({ url: proxy.url, commandTimeoutMs: 1500, patienceMs: 3000 });
    const session = await openSession(store);
    await proxy.setMode({ kind: 'blackhole' });
    await expect(store.acceptCall(acceptRequest(session))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await proxy.setMode({ kind: 'pass' });
    await store.close();
    await proxy.stop();
    await server.stop();
  });
});

describe('a connection of the Redis store for blocking reads', () => {
  it('is closed after half a minute without a waiter, and another is opened for the next', async () => {
    const server = await startRedis();
    const store = await openRedisStore({ url: server.url, lanes: 1 });
    const clients = async (): Promise<number> => (await server.cli('CLIENT', 'LIST')).trim().split('\n').length;
    const callerId = newCallerId();
    const take = () => store.takeReplies({ lane: 0, callerId, acknowledged: [], waitMs: 0 });
    const before = await clients();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await take();
      vi.advanceTimersByTime(29_000);
      // Used again: the half minute begins anew.
      await take();
      vi.advanceTimersByTime(29_000);
      expect(await clients()).toBe(before + 1);
      vi.advanceTimersByTime(1_000);
      vi.useRealTimers();
      await expect.poll(clients).toBe(before);
      await take();
      expect(await clients()).toBe(before + 1);
    } finally {
      vi.useRealTimers();
      await store.close();
      await server.stop();
    }
  });
});
