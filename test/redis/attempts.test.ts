import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HISTORY_LENGTH } from '../../src/domain/call/attempt.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { args, attemptAll, attemptOne, settled } from '../contract/attempt-fixtures.ts';
import { holdOne, openSession } from '../contract/fixtures.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

/** What Redis keeps about the attempts of a run. It grows only in runs with repetitions or failures, and only up to a limit. */
describe('attempts in Redis', () => {
  let redis: RedisServer;
  let store: Store;
  beforeAll(async () => {
    redis = await startRedis();
    store = await openRedisStore({ url: redis.url });
  });
  afterAll(async () => {
    await store.close();
    await redis.stop();
    failOnLeaks();
  });

  const keysOf = async (pattern: string): Promise<string[]> =>
    (await redis.cli('KEYS', pattern)).split('\n').filter(Boolean);
  const different = (count: number, from: number) => Array.from({ length: count }, (_, index) => args(from + index));

  it('of a run like no other are only counted', async () => {
    const session = await openSession(store);
    const deliveries = await attemptAll(store, session, different(20, 0));
    expect(new Set(deliveries.map(({ watched }) => watched))).toEqual(new Set([false]));
    expect(await keysOf(`*recent:${session.id}/*`)).toEqual([]);
  });

  it('are watched from the first repetition on, for as many as a history has', async () => {
    const session = await openSession(store);
    const deliveries = [await attemptOne(store, session), await attemptOne(store, session)];
    for (const from of [0, HISTORY_LENGTH / 2])
      deliveries.push(...(await attemptAll(store, session, different(HISTORY_LENGTH / 2, from))));
    deliveries.push(await attemptOne(store, session, 'ok', args(HISTORY_LENGTH)));
    const watched = deliveries.map((delivery) => delivery.watched);
    expect(watched).toEqual([false, ...watched.slice(1, -1).fill(true), false]);
    expect(watched).toHaveLength(HISTORY_LENGTH + 3);
  });

  it('are watched after one that went wrong, however late that is known', async () => {
    const session = await openSession(store);
    const late = await holdOne(store, session, args(0));
    const atOnce = HISTORY_LENGTH / 4;
    for (let from = 1; from <= HISTORY_LENGTH; from += atOnce) {
      const deliveries = await attemptAll(store, session, different(atOnce, from));
      expect(deliveries.filter(({ watched }) => watched)).toEqual([]);
    }
    await store.settleCall(settled(late, 'failed'));
    expect((await attemptOne(store, session, 'ok', args(9999))).watched).toBe(true);
  });

  it('of a long run take no more room than those of a short one, and go by themselves', async () => {
    const session = await openSession(store);
    const [runs] = await keysOf('*}:runs');
    const sizeOfRun = async () => Number(await redis.cli('HSTRLEN', runs!, `${session.id}/${session.run}`));
    const sizes: number[] = [];
    for (let from = 0; from < 4 * HISTORY_LENGTH; from += HISTORY_LENGTH / 2) {
      await attemptAll(store, session, different(HISTORY_LENGTH / 2, from), 'failed');
      sizes.push(await sizeOfRun());
    }
    expect(new Set(sizes)).toEqual(new Set([sizes[0]]));
    const [recent] = await keysOf(`*recent:${session.id}/*`);
    expect(Number(await redis.cli('LLEN', recent!))).toBeLessThanOrEqual(2 * HISTORY_LENGTH);
    expect(Number(await redis.cli('PTTL', recent!))).toBeGreaterThan(0);
  });
});
