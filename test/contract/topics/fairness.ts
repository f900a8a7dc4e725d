import { expect, it } from 'vitest';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import {
  acceptMany,
  acceptOne,
  allow,
  askAbout,
  callIds,
  cancelRequest,
  claimMany,
  claimOne,
  holdOne,
  openSession,
  ownedBy,
  ROOMY,
  settleRequest,
  SMALL_WINDOW,
} from '../fixtures.ts';
import { recordOf } from '../observe.ts';
import type { Scene } from '../scene.ts';

const windowOf = (subjectWindow: number) => ({ admission: { ...ROOMY, subjectWindow } });

export function describeFairness(scene: Scene): void {
  it("another subject's call overtakes the backlog of a noisy one", async () => {
    const store = await scene.open();
    const noisy = await openSession(store);
    const quiet = await openSession(store, { lane: noisy.lane });
    const many = await acceptMany(store, noisy, 6, windowOf(2));
    const one = await acceptOne(store, quiet, windowOf(2));
    expect(callIds(await claimMany(store, { lane: noisy.lane }))).toEqual([many[0], many[1], one]);
  });

  it('settle promotes the next of the backlog, in accept order', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const accepted = await acceptMany(store, session, 7, windowOf(SMALL_WINDOW));
    const seen: CallId[] = [];
    for (;;) {
      const deliveries = await claimMany(store, { lane: session.lane });
      if (deliveries.length === 0) break;
      expect(deliveries.length).toBeLessThanOrEqual(SMALL_WINDOW);
      seen.push(...callIds(deliveries));
      for (const delivery of deliveries) await store.settleCall(settleRequest(delivery));
    }
    expect(seen).toEqual(accepted);
  });

  it('a call in the backlog is queued like any other to those who ask', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [, waiting] = await acceptMany(store, session, 2, windowOf(1));
    expect(await recordOf(store, waiting!)).toMatchObject({ state: 'queued', starts: 0 });
  });

  it('the window holds for one pool and leaves the others open', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const admission = windowOf(1);
    await acceptMany(store, session, 2, { ...admission, pool: 'slow' });
    const [fast] = await acceptMany(store, session, 2, { ...admission, pool: 'fast' });
    expect(await claimMany(store, { lane: session.lane, pool: 'slow' })).toHaveLength(1);
    expect(callIds(await claimMany(store, { lane: session.lane, pool: 'fast' }))).toEqual([fast]);
  });

  it('an abandoned call keeps its place in the window', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, windowOf(1));
    const second = await acceptOne(store, session, windowOf(1));
    await store.abandonCall({ ...ownedBy(first), handedBack: false });
    const again = await claimMany(store, { lane: session.lane });
    expect(callIds(again)).toEqual([first.callId]);
    await store.settleCall(settleRequest(again[0]!));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });

  it('a parked call stands in no queue, so the next of its subject may go on', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, windowOf(1));
    const second = await acceptOne(store, session, windowOf(1));
    const asked = await askAbout(store, first);
    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(second);
    await store.settleCall(settleRequest(delivery));
    await allow(store, asked);
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([first.callId]);
  });

  it('an allowed call waits for a place in its subject’s window, before later calls', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, windowOf(1));
    const [second, third] = await acceptMany(store, session, 2, windowOf(1));
    const asked = await askAbout(store, first);
    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(second);
    await allow(store, asked);
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    await store.settleCall(settleRequest(delivery));
    const [resumed, ...others] = await claimMany(store, { lane: session.lane });
    expect(others).toEqual([]);
    expect(resumed).toMatchObject({ callId: first.callId, resumedWith: { approval: asked.question.id } });
    await store.settleCall(settleRequest(resumed!));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([third]);
  });

  it('a call that was cancelled while it waited for its place again leaves none behind', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, windowOf(1));
    const second = await acceptOne(store, session, windowOf(1));
    const asked = await askAbout(store, first);
    const delivery = await claimOne(store, { lane: session.lane });
    await allow(store, asked);
    expect(await store.cancelCall(cancelRequest(first.callId))).toBe('cancelled');
    await store.settleCall(settleRequest(delivery));
    expect(delivery.callId).toBe(second);
    const third = await acceptOne(store, session, windowOf(1));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([third]);
  });

  it('cancel of a held call makes room for the next of the subject', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, windowOf(1));
    const second = await acceptOne(store, session, windowOf(1));
    await store.cancelCall(cancelRequest(first.callId));
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });

  it('nothing of a backlog is lost or doubled when subjects, cancels and settles mix', async () => {
    const store = await scene.open();
    const first = await openSession(store);
    const second = await openSession(store, { lane: first.lane });
    const accepted: CallId[] = [];
    for (let round = 0; round < 10; round += 1) {
      accepted.push(await acceptOne(store, first, windowOf(3)), await acceptOne(store, second, windowOf(3)));
    }
    const cancelled = accepted.filter((_, index) => index % 5 === 4);
    for (const callId of cancelled) expect(await store.cancelCall(cancelRequest(callId))).toBe('cancelled');
    const seen: CallId[] = [];
    for (;;) {
      const deliveries = await claimMany(store, { lane: first.lane, limit: 2 });
      if (deliveries.length === 0) break;
      seen.push(...callIds(deliveries));
      for (const delivery of deliveries) await store.settleCall(settleRequest(delivery));
    }
    expect(seen.sort()).toEqual(accepted.filter((callId) => !cancelled.includes(callId)).sort());
  });
}
