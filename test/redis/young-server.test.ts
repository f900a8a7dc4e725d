import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/ports/store.ts';
import { GROUP, laneKeys } from '../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { newWorkerId, randomId } from '../../src/domain/identity/new-id.ts';
import { holdOne, openSession, POOL } from '../contract/fixtures.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

/** Longer than the server of this test will ever have been up. */
const LEASE_MS = 24 * 60 * 60 * 1000;

describe('a Redis that has just come back', () => {
  let server: RedisServer;
  let store: Store;
  const name = `young-${randomId()}`;
  beforeAll(async () => {
    server = await startRedis();
  });
  beforeEach(async () => {
    store = await openRedisStore({ url: server.url, name, lanes: 1 });
  });
  afterEach(() => store.close());
  afterAll(() => server.stop());

  const takeOver = async (leaseMs: number): Promise<number> => {
    const request = { lane: 0, pool: POOL, workerId: newWorkerId(), limit: 9, leaseMs };
    return (await store.reclaimCalls(request)).deliveries.length;
  };

  it('leaves leases that ran out while it was away to those who renew them', async () => {
    const held = await holdOne(store, await openSession(store));
    // Makes the lease look as if its owner had renewed it last two leases ago.
    const idle = ['IDLE', String(2 * LEASE_MS), 'JUSTID'];
    await server.cli('XCLAIM', laneKeys(name, 0).stream(POOL), GROUP, held.workerId, '0', held.entryId, ...idle);
    expect(await takeOver(LEASE_MS)).toBe(0);
    expect(await store.renewCalls({ lane: 0, calls: [held] })).toEqual(['renewed']);
  });

  it('gives away leases that ran out since', async () => {
    await holdOne(store, await openSession(store));
    await expect.poll(() => takeOver(1)).toBeGreaterThan(0);
  });
});
