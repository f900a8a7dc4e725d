import { expect, it } from 'vitest';
import { claimOne, acceptOne, encodedOutcome, openSession, reapRequest, settleRequest } from '../fixtures.ts';
import { storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeLaneUse(scene: Scene): void {
  it('lane use says what is live, what is kept, and since when it should have been forgotten', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const { lane } = session;
    const use = async () => (await store.laneUse()).find((each) => each.lane === lane);
    expect(await use()).toMatchObject({ lane, liveBytes: 0, retainedBytes: 0, overdueMs: 0 });

    await acceptOne(store, session);
    expect(await use()).toMatchObject({ liveBytes: expect.any(Number) as number, retainedBytes: 0, overdueMs: 0 });
    expect((await use())!.liveBytes).toBeGreaterThan(0);

    const delivery = await claimOne(store, { lane });
    await store.settleCall(settleRequest(delivery, encodedOutcome('ok'), { retentionMs: 1 }));
    expect(await use()).toMatchObject({ liveBytes: 0 });
    expect((await use())!.retainedBytes).toBeGreaterThan(0);
    await storeTimePasses(store, 50);
    expect((await use())!.overdueMs).toBeGreaterThanOrEqual(40);

    // Redis forgets the calls in one round of reaping, and frees their bytes in the next.
    for (let round = 0; round < 2; round += 1) await store.reapCalls(reapRequest(lane));
    expect(await use()).toMatchObject({ lane, liveBytes: 0, retainedBytes: 0, overdueMs: 0 });
  });
}
