import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { nestedPool } from '../../src/domain/identity/ids.ts';
import type { WorkerEntry } from '../../src/domain/ports/fleet-registry.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { newCallerId, newWorkerId, privatePoolOf, randomId } from '../../src/domain/identity/new-id.ts';
import { acceptOne, claimMany, claimOne, openSession, reapRequest, settleRequest } from '../contract/fixtures.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

const LONG_MS = 600_000;

let server: RedisServer;
let store: Store;
let name: string;
let pool: string;
beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  name = `private-${randomId()}`;
  store = await openRedisStore({ url: server.url, name });
  pool = privatePoolOf(newCallerId());
});
afterEach(async () => {
  await store.close();
  await server.cli('FLUSHALL');
});
afterAll(async () => {
  await server.stop();
  failOnLeaks();
});

const reap = (consumerIdleMs = 0) => store.reapCalls(reapRequest(0, { pools: ['main'], consumerIdleMs }));

/** The keys of the pool's queues, and the pool's entries in the list of pools. */
async function traces(): Promise<string[]> {
  const keys = (await server.cli('KEYS', `*${pool}*`)).split('\n');
  const known = (await server.cli('SMEMBERS', `{${name}}:pools`)).split('\n');
  return [...keys, ...known].filter((each) => each.includes(pool)).sort();
}

function workerOf(): WorkerEntry {
  return {
    workerId: newWorkerId(),
    pool,
    host: 'here',
    pid: 1,
    release: '0.1.0',
    startedAt: 1,
    state: 'serving',
    concurrency: 1,
    running: 0,
    crashes: 0,
    modules: [],
    toolDigests: [],
    broken: [],
  };
}

it('the reaper keeps the queue of a dead process while a call stands in it or is held, and no longer', async () => {
  const session = await openSession(store);
  await claimMany(store, { pool });
  await acceptOne(store, session, { pool });
  await reap();
  expect(await traces()).toHaveLength(2);
  const held = await claimOne(store, { pool });
  await reap();
  expect(await traces()).toHaveLength(2);
  expect(await store.settleCall(settleRequest(held))).toBe('settled');
  await reap();
  expect(await traces()).toStrictEqual([]);
});

it('the reaper keeps the queues of a process that is registered', async () => {
  const worker = workerOf();
  await store.registerWorker({ worker, ttlMs: LONG_MS });
  for (const each of [pool, nestedPool(pool)]) await claimMany(store, { pool: each, workerId: worker.workerId });
  await reap();
  expect(await traces()).toHaveLength(4);
  // Deletes the registration, as its expiry would.
  await server.cli('DEL', `{${name}}:worker:${worker.workerId}`);
  await reap();
  expect(await traces()).toStrictEqual([]);
});

it('the reaper keeps a queue that was read from lately', async () => {
  const session = await openSession(store);
  await claimMany(store, { pool });
  await acceptOne(store, session, { pool });
  await store.settleCall(settleRequest(await claimOne(store, { pool })));
  await reap(LONG_MS);
  expect(await traces()).toHaveLength(2);
  await reap();
  expect(await traces()).toStrictEqual([]);
});

it('a process that leaves takes its queues along, unless a call is left in them', async () => {
  const session = await openSession(store);
  const worker = workerOf();
  await store.registerWorker({ worker, ttlMs: LONG_MS });
  for (const each of [pool, nestedPool(pool)]) await claimMany(store, { pool: each, workerId: worker.workerId });
  await acceptOne(store, session, { pool });
  await store.deregisterWorker(worker.workerId);
  expect(await traces()).toStrictEqual([pool, `{${name}:0}:pool:${pool}`].sort());
});

it('the reaper leaves queues alone that workers of the fleet share', async () => {
  await claimMany(store, { pool: 'main' });
  await reap();
  expect(await server.cli('EXISTS', `{${name}:0}:pool:main`)).toBe('1');
});

it('a process that was only asleep makes its queue again, and gets the calls that came meanwhile', async () => {
  const session = await openSession(store);
  const workerId = newWorkerId();
  await claimMany(store, { pool, workerId });
  await reap();
  expect(await traces()).toStrictEqual([]);
  const callId = await acceptOne(store, session, { pool });
  const cleared = expect.objectContaining({ code: 'STORE_UNAVAILABLE' }) as Error;
  await expect(claimMany(store, { pool, workerId })).rejects.toThrow(cleared);
  expect(await claimOne(store, { pool, workerId })).toMatchObject({ callId });
});

it('a queue of the fleet that is gone still means that the store was replaced', async () => {
  await claimMany(store, { pool: 'main' });
  await server.cli('DEL', `{${name}:0}:pool:main`);
  const replaced = expect.objectContaining({ code: 'STORE_REPLACED' }) as Error;
  await expect(claimMany(store, { pool: 'main' })).rejects.toThrow(replaced);
});
