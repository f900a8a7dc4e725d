import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import {
  acceptOne,
  ALICE,
  askAbout,
  claimOne,
  decideRequest,
  encodedOutcome,
  holdOne,
  openSession,
  reapRequest,
  settleRequest,
} from '../contract/fixtures.ts';
import { storeTimePasses } from '../contract/observe.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
let store: Store;
let name: string;
beforeAll(async () => {
  server = await startRedis();
});
beforeEach(async () => {
  name = `shares-${randomId()}`;
  store = await openRedisStore({ url: server.url, name, lanes: 1 });
});
afterEach(async () => {
  await store.close();
  await server.cli('FLUSHALL');
});
afterAll(async () => {
  await server.stop();
  failOnLeaks();
});

const NOTHING = { liveBytes: 0, parkedBytes: 0, retainedBytes: 0, pendingApprovals: 0 };
const windows = (): string => `{${name}:0}:windows`;
const use = async () => (await store.laneUse())[0]!.fullestSubject;
const fields = async (): Promise<string[]> =>
  (await server.cli('HKEYS', windows())).split('\n').filter((field) => field.startsWith('='));

/** Deletes the counts that an earlier release did not write. */
async function forgetCounts(): Promise<void> {
  for (const field of await fields()) await server.cli('HDEL', windows(), field);
  await server.cli('HDEL', `{${name}:0}:meta`, 'parkedBytes');
}

describe('shares of subjects on Redis', () => {
  it('a lane of an earlier release counts its live and parked calls when the first call is accepted', async () => {
    const session = await openSession(store);
    const asked = await askAbout(store, await holdOne(store, session, { envelope: new Uint8Array(3000) }));
    await acceptOne(store, session, { envelope: new Uint8Array(500) });
    const before = await use();
    expect(before).toMatchObject({ pendingApprovals: 1 });
    await forgetCounts();
    expect(await use()).toEqual(NOTHING);
    // Nothing is counted yet, so the settle must not subtract anything.
    await store.settleCall(settleRequest(await claimOne(store, { lane: 0 })));
    expect(await use()).toEqual(NOTHING);

    await acceptOne(store, session, { envelope: new Uint8Array(700) });
    expect(await use()).toEqual({ ...before, liveBytes: before!.liveBytes + 200, retainedBytes: 0 });
    expect(await server.cli('HGET', `{${name}:0}:meta`, 'parkedBytes')).toBe(String(before!.parkedBytes));
    await store.decideApproval(decideRequest(asked, 'deny', { by: ALICE }));
    expect(await use()).toMatchObject({ liveBytes: 700, parkedBytes: 0, pendingApprovals: 0 });
    expect(await server.cli('HGET', `{${name}:0}:meta`, 'parkedBytes')).toBe('0');
  });

  it('outcomes that an earlier release settled are not counted, and not subtracted when they are forgotten', async () => {
    const session = await openSession(store);
    const settle = async (outcome: string, retentionMs: number) => {
      const delivery = await holdOne(store, session);
      await store.settleCall(settleRequest(delivery, encodedOutcome('ok', outcome), { retentionMs }));
    };
    await settle('x'.repeat(9000), 1);
    await forgetCounts();
    // Counting begins with the next accept, in the millisecond after it.
    await acceptOne(store, session, { deadlineMs: 1, pool: 'unserved' });
    await storeTimePasses(store, 2);
    await settle('y'.repeat(1000), 3_600_000);
    const kept = (await use())!.retainedBytes;
    expect(kept).toBeGreaterThan(1000);
    expect(kept).toBeLessThan(4000);
    await storeTimePasses(store, 50);
    for (let round = 0; round < 3; round += 1) await store.reapCalls(reapRequest(0));
    expect((await use())!.retainedBytes).toBeGreaterThanOrEqual(kept);
  });

  it('a subject that uses nothing any more leaves no field', async () => {
    for (let subject = 0; subject < 5; subject += 1) {
      const session = await openSession(store, { subject: `s${subject}` });
      const delivery = await holdOne(store, session);
      await store.settleCall(settleRequest(delivery, encodedOutcome('ok'), { retentionMs: 1 }));
    }
    expect(await fields()).toHaveLength(6);
    await storeTimePasses(store, 50);
    for (let round = 0; round < 3; round += 1) await store.reapCalls(reapRequest(0));
    expect(await fields()).toEqual(['=']);
  });
});
