import { expect, it } from 'vitest';
import type { Effect } from '../../../src/domain/tool/tool.ts';
import {
  acceptOne,
  APPROVAL_EXPIRED,
  askAbout,
  claimOne,
  EXPIRED,
  holdOne,
  MAY_HAVE_RUN,
  openSession,
  ownedBy,
  reapRequest,
  startRequest,
  TIMED_OUT,
} from '../fixtures.ts';
import { reclaimOne, recordOf, sameBytes, storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

/** Long enough for the steps of a test before the deadline on a busy machine. */
const DEADLINE_MS = 1_500;

export function describeRequeued(scene: Scene): void {
  it('reap says of a call given back without a start mark that it may have run', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { deadlineMs: DEADLINE_MS });
    expect(await store.abandonCall({ ...ownedBy(delivery), handedBack: false })).toBe('abandoned');
    await storeTimeAfter(store, delivery.deadline + 5);
    await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(TIMED_OUT));
  });

  it('reap of a call that every worker handed back says that nothing ran', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    let delivery = await holdOne(store, session, { deadlineMs: DEADLINE_MS });
    for (let count = 0; count < 3; count += 1) {
      if (count > 0) delivery = await claimOne(store, { lane: session.lane });
      expect(await store.abandonCall({ ...ownedBy(delivery), handedBack: true })).toBe('abandoned');
    }
    await storeTimeAfter(store, delivery.deadline + 5);
    await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(EXPIRED));
  });

  it('reap says of a call taken over without a start mark and given back that it may have run', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session, { deadlineMs: DEADLINE_MS });
    const taken = await reclaimOne(store, lost);
    expect(await store.abandonCall({ ...ownedBy(taken), handedBack: true })).toBe('abandoned');
    await storeTimeAfter(store, lost.deadline + 5);
    await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect((await recordOf(store, lost.callId)).outcome).toEqual(sameBytes(TIMED_OUT));
  });

  it.each<[Effect, Uint8Array]>([
    ['read', TIMED_OUT],
    ['idempotent', TIMED_OUT],
    ['unsafe', MAY_HAVE_RUN],
  ])('reap never says of a started %s call that was given back that nothing ran', async (effect, outcome) => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { deadlineMs: DEADLINE_MS });
    expect(await store.startCall(startRequest(delivery, { effect }))).toMatchObject({ kind: 'started' });
    await store.abandonCall({ ...ownedBy(delivery), handedBack: false });
    await storeTimeAfter(store, delivery.deadline + 5);
    await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(outcome));
  });

  it('reap of a call that no worker ever held, and of one parked before any start, says that nothing ran', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const parked = await holdOne(store, session);
    await askAbout(store, parked, { timeoutMs: DEADLINE_MS });
    const queued = await acceptOne(store, session, { deadlineMs: DEADLINE_MS });
    await storeTimeAfter(store, (await recordOf(store, queued)).deadline + 5);
    await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect((await recordOf(store, queued)).outcome).toEqual(sameBytes(EXPIRED));
    expect((await recordOf(store, parked.callId)).outcome).toEqual(sameBytes(APPROVAL_EXPIRED));
  });
}
