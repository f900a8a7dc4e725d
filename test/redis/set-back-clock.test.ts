import { describe, expect, it } from 'vitest';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { newWorkerId, randomId } from '../../src/domain/identity/new-id.ts';
import { holdOne, openSession, POOL } from '../contract/fixtures.ts';
import { temporaryFolder } from '../support/process.ts';
import { startRedis } from '../support/redis-server.ts';
import { compileShiftedClock } from '../support/set-back-clock.ts';

const folder = temporaryFolder('sallyport-clock');
const clock = compileShiftedClock(folder.path);
const HOUR_SECONDS = 3600;

describe('a Redis whose clock was set back behind its start', () => {
  it.skipIf(clock === undefined)('still gives away the calls of lost workers', async () => {
    const before = { ...process.env };
    Object.assign(process.env, clock!.env);
    const server = await startRedis().finally(() => {
      for (const name of Object.keys(clock!.env)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    });
    try {
      clock!.set(-HOUR_SECONDS);
      await expect.poll(() => server.cli('INFO', 'server')).toMatch(/uptime_in_seconds:-\d+/);
      const store = await openRedisStore({ url: server.url, name: `clock-${randomId()}`, lanes: 1 });
      const held = await holdOne(store, await openSession(store));
      const takeOver = async () => {
        const request = { lane: 0, pool: POOL, workerId: newWorkerId(), limit: 9, leaseMs: 50 };
        return (await store.reclaimCalls(request)).deliveries.map(({ callId, fence }) => ({ callId, fence }));
      };
      await expect.poll(takeOver).toEqual([{ callId: held.callId, fence: 2 }]);
      await store.close();
    } finally {
      await server.stop();
      folder.remove();
    }
  });
});
