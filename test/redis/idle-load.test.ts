import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { openSession } from '../contract/fixtures.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

async function functionsSent(): Promise<number> {
  const stats = await server.cli('INFO', 'commandstats');
  const counts = [...stats.matchAll(/^cmdstat_fcall(?:_ro)?:calls=(\d+)/gm)].map(([, calls]) => Number(calls));
  return counts.reduce((total, calls) => total + calls, 0);
}

it('a look at a lane without sessions is one function, one with sessions two', async () => {
  const store = await openRedisStore({ url: server.url });
  const session = await openSession(store);
  const before = await functionsSent();
  expect(await store.recheckSessions({ lane: 0, sessions: [] })).toMatchObject({ endings: [] });
  expect((await functionsSent()) - before).toBe(1);
  const { endings } = await store.recheckSessions({ lane: 0, sessions: [{ session: session.id, run: session.run }] });
  expect(endings).toEqual([undefined]);
  expect((await functionsSent()) - before).toBe(3);
  await store.close();
});
