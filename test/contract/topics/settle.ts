import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { eventually } from '../../support/process.ts';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import {
  acceptOne,
  acceptRequest,
  askAbout,
  callIds,
  claimMany,
  claimOne,
  encodedOutcome,
  holdOne,
  newWaiter,
  openSession,
  ownedBy,
  reapRequest,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import { drainReplies, reclaimAll, recordOf, sameBytes, storeTimePasses, terminalEvents } from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeSettle(scene: Scene): void {
  it('settle stores the outcome and ends the lease', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const before = await store.now();
    const outcome = encodedOutcome('ok', 'done');
    expect(await store.settleCall(settleRequest(delivery, outcome))).toBe('settled');

    const record = await recordOf(store, delivery.callId);
    expect(record).toMatchObject({ state: 'settled', outcome: sameBytes(outcome), starts: 0 });
    expect(record.settledAt).toBeGreaterThanOrEqual(before);
    expect(await reclaimAll(store, session.lane)).toEqual([]);
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await store.listCalls({ limit: 10 })).toEqual([]);
  });

  it('settle answers every waiter once, under its own correlation id, also those who attached later', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const [first, queued, held, running] = [newWaiter(), newWaiter(), newWaiter(), newWaiter()];
    const attach = (waiter: typeof first) => store.acceptCall(acceptRequest(session, { key: 'k', waiter }));
    await attach(first);
    await attach(queued);
    const delivery = await claimOne(store, { lane: session.lane });
    await attach(held);
    await store.startCall(startRequest(delivery));
    await attach(running);
    const outcome = encodedOutcome('ok');
    await store.settleCall(settleRequest(delivery, outcome));

    for (const waiter of [first, queued, held, running]) {
      const { callerId, correlationId } = waiter;
      expect(await drainReplies(store, session.lane, callerId)).toEqual([
        { kind: 'settled', correlationId, outcome: sameBytes(outcome) },
      ]);
    }
  });

  it('settle repeated with the same bytes after a lost answer is settled, and audited once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const delivery = await holdOne(store, session, { waiter });
    const request = settleRequest(delivery);
    expect(await store.settleCall(request)).toBe('settled');
    const { settledAt } = await recordOf(store, delivery.callId);
    expect(await store.settleCall(request)).toBe('settled');
    expect(await store.settleCall(request)).toBe('settled');

    expect((await recordOf(store, delivery.callId)).settledAt).toBe(settledAt);
    expect(await terminalEvents(store, delivery.callId)).toEqual(['call.settled']);
    const replies = await drainReplies(store, session.lane, waiter.callerId);
    expect(new Set(replies.map((reply) => reply.correlationId))).toEqual(new Set([waiter.correlationId]));
  });

  it('settle with other bytes never replaces an outcome', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    const first = encodedOutcome('ok', 'first');
    await store.settleCall(settleRequest(delivery, first));
    expect(await store.settleCall(settleRequest(delivery, encodedOutcome('ok', 'second')))).toBe('fenced');
    expect((await recordOf(store, delivery.callId)).outcome).toEqual(sameBytes(first));
    expect(await terminalEvents(store, delivery.callId)).toHaveLength(1);
  });

  it('settle of a call the store does not know is absent', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const { callId } = acceptRequest(session);
    expect(await store.settleCall(settleRequest({ ...delivery, callId }))).toBe('absent');
    expect(await store.readCall(callId)).toBeUndefined();
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
  });

  it('settle of a parked call by its former owner is fenced', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    await askAbout(store, delivery);
    expect(await store.settleCall(settleRequest(delivery))).toBe('fenced');
    expect((await recordOf(store, delivery.callId)).state).toBe('parked');
  });

  it('settle needs no waiter', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
    expect(await recordOf(store, delivery.callId)).toMatchObject({ state: 'settled', waiters: 0 });
  });

  it('settle keeps eight megabytes byte by byte', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    const outcome = randomBytes(8 * 1024 * 1024);
    expect(await store.settleCall(settleRequest(delivery, outcome))).toBe('settled');
    const stored = (await recordOf(store, delivery.callId)).outcome;
    expect(stored !== undefined && Buffer.compare(stored, outcome)).toBe(0);
  });

  it('settle that releases the key lets the next accept run anew, and keeps the old call readable', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, { key: 'k' });
    const stale = encodedOutcome('stale');
    await store.settleCall(settleRequest(first, stale, { releaseKey: true }));

    // The released key can be used again with another body too.
    const second = `${first.callId}~2` as CallId;
    expect(await acceptOne(store, session, { key: 'k', arguments: '{"v":2}' })).toBe(second);
    const attached = await store.acceptCall(acceptRequest(session, { key: 'k', arguments: '{"v":2}' }));
    expect(attached).toEqual({ kind: 'attached', callId: second, state: 'queued' });
    const delivery = await claimOne(store, { lane: session.lane });
    expect(delivery.callId).toBe(second);
    const outcome = encodedOutcome('ok', 'second try');
    await store.settleCall(settleRequest(delivery, outcome));

    const replay = await store.acceptCall(acceptRequest(session, { key: 'k', arguments: '{"v":2}' }));
    expect(replay).toEqual({ kind: 'replayed', callId: second, outcome: sameBytes(outcome) });
    expect(await recordOf(store, first.callId)).toMatchObject({ callId: first.callId, outcome: sameBytes(stale) });
    expect(await recordOf(store, second)).toMatchObject({ callId: second, outcome: sameBytes(outcome) });
  });

  it('a key can be released again and again', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const ids: CallId[] = [];
    for (let round = 0; round < 4; round += 1) {
      const delivery = await claimAfterAccept();
      ids.push(delivery.callId);
      await store.settleCall(settleRequest(delivery, encodedOutcome('stale'), { releaseKey: true }));
    }
    const [first] = ids;
    expect(ids).toEqual([first, `${first}~2`, `${first}~3`, `${first}~4`]);

    async function claimAfterAccept() {
      await acceptOne(store, session, { key: 'k' });
      return claimOne(store, { lane: session.lane });
    }
  });

  it('a key is released also by a worker with a fence of two digits', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    let delivery = await holdOne(store, session, { key: 'k' });
    while (delivery.fence < 10) {
      await store.abandonCall({ ...ownedBy(delivery), handedBack: true });
      delivery = await claimOne(store, { lane: session.lane });
    }
    const request = settleRequest(delivery, encodedOutcome('stale'), { releaseKey: true });
    expect(await store.settleCall(request)).toBe('settled');
    expect(await acceptOne(store, session, { key: 'k' })).toBe(`${delivery.callId}~2`);
  });

  it('a released key stays with its latest call while that is under way, however long ago the first was to be forgotten', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, { key: 'k' });
    const request = settleRequest(first, encodedOutcome('stale'), { releaseKey: true, retentionMs: 20 });
    await store.settleCall(request);
    const second = await acceptOne(store, session, { key: 'k' });
    await storeTimePasses(store, 50);
    await store.reapCalls(reapRequest(session.lane));
    expect(await store.acceptCall(acceptRequest(session, { key: 'k' }))).toMatchObject({ callId: second });

    // The key stays with the second call when that one is settled too.
    await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    await store.reapCalls(reapRequest(session.lane));
    expect(await store.acceptCall(acceptRequest(session, { key: 'k' }))).toMatchObject({
      kind: 'replayed',
      callId: second,
    });
  });

  it('all calls of a released key are forgotten when the retention of the last one ends', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, { key: 'k' });
    await store.settleCall(settleRequest(first, encodedOutcome('stale'), { releaseKey: true, retentionMs: 20 }));
    const second = await holdOne(store, session, { key: 'k' });
    await store.settleCall(settleRequest(second, undefined, { retentionMs: 20 }));
    await eventually(
      async () => {
        await store.reapCalls(reapRequest(session.lane));
        const left = await Promise.all([first, second].map(({ callId }) => store.readCall(callId)));
        return left.every((record) => record === undefined);
      },
      { what: 'the end of the retention' },
    );
    expect(await acceptOne(store, session, { key: 'k' })).toBe(first.callId);
  });

  it('settle of one call twice at once ends it once, with one reply', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const waiter = newWaiter();
    const delivery = await holdOne(store, session, { waiter });
    const outcomes = ['one', 'two'].map((text) => encodedOutcome('ok', text));
    const answers = await Promise.all(outcomes.map((outcome) => store.settleCall(settleRequest(delivery, outcome))));
    expect(answers.toSorted()).toEqual(['fenced', 'settled']);
    expect(await terminalEvents(store, delivery.callId)).toEqual(['call.settled']);
    expect(await drainReplies(store, session.lane, waiter.callerId)).toHaveLength(1);
  });

  it('settle that releases the key and is repeated releases it once', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, { key: 'k' });
    const request = settleRequest(first, encodedOutcome('stale'), { releaseKey: true });
    await store.settleCall(request);
    const second = await acceptOne(store, session, { key: 'k' });
    expect(await store.settleCall(request)).toBe('settled');
    expect(await store.acceptCall(acceptRequest(session, { key: 'k' }))).toMatchObject({
      kind: 'attached',
      callId: second,
    });
    expect(callIds(await claimMany(store, { lane: session.lane }))).toEqual([second]);
  });
}
