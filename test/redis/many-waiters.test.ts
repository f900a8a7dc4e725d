import { afterAll, beforeAll, expect, it } from 'vitest';
import { LIMITS } from '../../src/domain/call/call.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { newCallerId } from '../../src/domain/identity/new-id.ts';
import { acceptOne, acceptRequest, claimMany, claimOne, openSession, settleRequest } from '../contract/fixtures.ts';
import { drainReplies } from '../contract/observe.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

/** With two fields for each reply, these calls have more values than one command of a script can take as arguments. */
const CALLS = 5;

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

it('one settlement of several calls answers all waiters of one caller, more than a script can pass on at once', async () => {
  const store = await openRedisStore({ url: server.url });
  const session = await openSession(store);
  const callerId = newCallerId();
  const expected: string[] = [];
  for (let call = 0; call < CALLS; call += 1) {
    const names = Array.from({ length: LIMITS.waitersPerCall }, (_, index) => `${call}-${index}`);
    expected.push(...names);
    await Promise.all(
      names.map((correlationId) =>
        store.acceptCall(
          acceptRequest(session, { key: `k${call}`, waiter: { callerId, correlationId, events: false } }),
        ),
      ),
    );
  }
  const neighbour = await openSession(store);
  await acceptOne(store, neighbour, { serial: true });
  await acceptOne(store, neighbour, { serial: true });

  const deliveries = await claimMany(store);
  expect(deliveries).toHaveLength(CALLS + 1);
  const settled = await Promise.all(deliveries.map((delivery) => store.settleCall(settleRequest(delivery))));
  expect(new Set(settled)).toEqual(new Set(['settled']));
  const items = await drainReplies(store, 0, callerId);
  expect(items.map((item) => item.correlationId).sort()).toEqual(expected.sort());
  // The neighbour's first serial call was settled in the same step as the calls with many waiters: its next one must be queued now.
  expect((await claimOne(store)).session).toBe(neighbour.id);
  await store.close();
});
