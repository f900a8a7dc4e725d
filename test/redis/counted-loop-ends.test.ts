import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore } from '../../src/operate/open-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { newRunId } from '../../src/domain/identity/new-id.ts';
import { holdOne, openSession } from '../contract/fixtures.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
let redis: Redis;
let store: Store;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  store = await openStore({ store: 'redis', redis: { url: server.url } });
});
afterAll(async () => {
  await store?.close();
  redis?.disconnect();
  await server?.stop();
});

it('runs that a loop ended under an earlier release, which only counted them, count from the next run on', async () => {
  const session = await openSession(store);
  const [key] = (await redis.keys(`*session:${session.id}`)) as [string];
  // As an earlier release wrote them: a count in the session, and a count in each run.
  const opened = Number((await redis.hget(key, `run:${session.run}`))!.split(' ')[0]);
  await redis.hset(key, 'ended', '7', `run:${session.run}`, `${opened} 7`);
  expect((await holdOne(store, session)).runState.loopEnds).toEqual([opened, opened]);

  const openRun = async () => {
    const run = newRunId();
    await store.openRun({ session: session.id, run });
    return { ...session, run };
  };
  const before = await store.now();
  const first = (await holdOne(store, await openRun())).runState.loopEnds;
  const after = await store.now();
  expect(first).toEqual([first[0], first[0]]);
  expect(first[0]).toBeGreaterThanOrEqual(before);
  expect(first[0]).toBeLessThanOrEqual(after);
  // The time is set only once: a later run does not set it again.
  expect((await holdOne(store, await openRun())).runState.loopEnds).toEqual(first);
  expect(await redis.hexists(key, 'ended')).toBe(0);
});
