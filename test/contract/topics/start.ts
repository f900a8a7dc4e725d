import { expect, it } from 'vitest';
import type { Effect } from '../../../src/domain/tool/tool.ts';
import type { Delivery } from '../../../src/domain/ports/call-requests.ts';
import {
  allow,
  askAbout,
  cancelRequest,
  claimOne,
  detail,
  encodedOutcome,
  holdOne,
  openSession,
  ownedBy,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import { auditOf, reclaimOne, recordOf, sameBytes, storeTimeAfter } from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeStart(scene: Scene): void {
  it('start writes the mark: running, one start, the effect', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    expect(await store.startCall(startRequest(delivery, { effect: 'idempotent' }))).toEqual({
      kind: 'started',
      starts: 1,
    });
    expect(await recordOf(store, delivery.callId)).toMatchObject({ state: 'running', starts: 1, effect: 'idempotent' });
  });

  it('start repeated after a lost answer is the same start', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    const request = startRequest(delivery, { intent: detail('intent') });
    expect(await store.startCall(request)).toEqual({ kind: 'started', starts: 1 });
    expect(await store.startCall(request)).toEqual({ kind: 'started', starts: 1 });
    expect((await recordOf(store, delivery.callId)).starts).toBe(1);
    expect(await auditOf(store, delivery.callId)).toHaveLength(1);
  });

  it('start commits the intent of a privileged call to the audit before it answers', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    await store.startCall(startRequest(delivery, { intent: detail('rm') }));
    const entries = await auditOf(store, delivery.callId);
    expect(entries.map((entry) => ({ ...entry, identity: JSON.parse(entry.identity!) as unknown }))).toEqual([
      expect.objectContaining({
        event: 'call.intended',
        tool: delivery.tool,
        session: session.id,
        bodyDigest: delivery.bodyDigest,
        identity: JSON.parse(delivery.identity) as unknown,
        detail: sameBytes(detail('rm')),
      }),
    ]);
  });

  it('start without an intent writes no audit record', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    await store.startCall(startRequest(delivery));
    expect(await auditOf(store, delivery.callId)).toEqual([]);
  });

  it('an unsafe call lost while running is never started again', async () => {
    const store = await scene.open();
    let delivery = await holdOne(store, await openSession(store));
    await store.startCall(startRequest(delivery, { maxAttempts: 9 }));
    for (let loss = 0; loss < 3; loss += 1) {
      delivery = await reclaimOne(store, delivery);
      const again = startRequest(delivery, { maxAttempts: 9, intent: detail('again') });
      expect(await store.startCall(again)).toEqual({ kind: 'may-have-run' });
    }
    expect((await recordOf(store, delivery.callId)).starts).toBe(1);
    expect(await auditOf(store, delivery.callId)).toEqual([]);
    expect(await store.settleCall(settleRequest(delivery, encodedOutcome('indeterminate')))).toBe('settled');
  });

  it('an unsafe call lost while running does not start again after it was parked and resumed', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    await store.startCall(startRequest(lost));
    const taken = await reclaimOne(store, lost);
    await allow(store, await askAbout(store, taken));
    const resumed = await claimOne(store, { lane: session.lane });
    expect(await store.startCall(startRequest(resumed))).toEqual({ kind: 'may-have-run' });
    expect(resumed.recovered?.starts).toBe(1);
  });

  it('an unsafe call lost before its mark is started by the next worker', async () => {
    const store = await scene.open();
    const lost = await holdOne(store, await openSession(store));
    const taken = await reclaimOne(store, lost);
    expect(await store.startCall(startRequest(taken))).toEqual({ kind: 'started', starts: 1 });
  });

  const retrySafe: Effect[] = ['read', 'idempotent'];
  it.each(retrySafe)(
    'a lost %s call is started again up to maxAttempts, then its starts are used up',
    async (effect) => {
      const store = await scene.open();
      const session = await openSession(store);
      const startsOf = async (maxAttempts: number) => {
        let delivery: Delivery = await holdOne(store, session);
        for (let starts = 1; starts <= maxAttempts; starts += 1) {
          expect(await store.startCall(startRequest(delivery, { effect, maxAttempts }))).toEqual({
            kind: 'started',
            starts,
          });
          delivery = await reclaimOne(store, delivery);
        }
        const answer = await store.startCall(startRequest(delivery, { effect, maxAttempts }));
        expect((await recordOf(store, delivery.callId)).starts).toBe(maxAttempts);
        return answer;
      };
      expect(await startsOf(1)).toEqual({ kind: 'used-up', starts: 1 });
      expect(await startsOf(2)).toEqual({ kind: 'used-up', starts: 2 });
    },
  );

  it('a call that lost two workers after its start is used up, for any maxAttempts', async () => {
    const store = await scene.open();
    const first = await holdOne(store, await openSession(store));
    const request = { effect: 'read', maxAttempts: 10 } as const;
    await store.startCall(startRequest(first, request));
    const second = await reclaimOne(store, first);
    expect(await store.startCall(startRequest(second, request))).toEqual({ kind: 'started', starts: 2 });
    const third = await reclaimOne(store, second);
    expect(await store.startCall(startRequest(third, request))).toEqual({ kind: 'used-up', starts: 2 });
    expect(await store.settleCall(settleRequest(third, encodedOutcome('crashed')))).toBe('settled');
  });

  it('a call that is used up gets no more starts by being given back', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const request = { effect: 'idempotent', maxAttempts: 3 } as const;
    let delivery = await holdOne(store, session);
    for (let starts = 1; starts <= 2; starts += 1) {
      await store.startCall(startRequest(delivery, request));
      delivery = await reclaimOne(store, delivery);
    }
    await store.abandonCall({ ...ownedBy(delivery), handedBack: false });
    const given = await claimOne(store, { lane: session.lane });
    expect(await store.startCall(startRequest(given, request))).toEqual({ kind: 'used-up', starts: 2 });
  });

  it('giving a started call back in good order uses nothing up', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const request = { effect: 'read', maxAttempts: 3 } as const;
    let delivery = await holdOne(store, session);
    for (let drained = 0; drained < 4; drained += 1) {
      expect(await store.startCall(startRequest(delivery, request))).toEqual({ kind: 'started', starts: 1 });
      await store.abandonCall({ ...ownedBy(delivery), handedBack: false });
      delivery = await claimOne(store, { lane: session.lane });
    }
  });

  it('losing workers before the start mark uses nothing up', async () => {
    const store = await scene.open();
    let delivery = await holdOne(store, await openSession(store));
    for (let loss = 0; loss < 4; loss += 1) delivery = await reclaimOne(store, delivery);
    expect(delivery.recovered).toMatchObject({ starts: 0, wasRunning: false });
    expect(await store.startCall(startRequest(delivery, { effect: 'read' }))).toEqual({ kind: 'started', starts: 1 });
  });

  it('start refuses a call past its deadline', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store), { deadlineMs: 30 });
    await storeTimeAfter(store, delivery.deadline);
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'expired' });
    expect((await recordOf(store, delivery.callId)).starts).toBe(0);
    expect(await store.settleCall(settleRequest(delivery, encodedOutcome('expired')))).toBe('settled');
  });

  it('start refuses a call whose session was revoked after the claim', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    await store.revokeSession({ session: session.id });
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'session-ended', ending: 'revoked' });
    expect((await recordOf(store, delivery.callId)).starts).toBe(0);
  });

  it('start refuses a call whose session expired after the claim', async () => {
    const store = await scene.open();
    const session = await openSession(store, { lifetimeMs: 60 });
    const delivery = await holdOne(store, session);
    await storeTimeAfter(store, session.expiresAt);
    const answer = await store.startCall(startRequest(delivery));
    expect(answer).toMatchObject({ kind: 'session-ended' });
    // A store may have deleted an expired session: then its ending is `unknown`.
    expect(['expired', 'unknown']).toContain(Reflect.get(answer, 'ending'));
  });

  it('start refuses a call whose run has ended', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    await store.endRun({ session: session.id, run: session.run });
    expect(await store.startCall(startRequest(delivery))).toEqual({ kind: 'session-ended', ending: 'run-unknown' });
  });

  it('start does not begin a recovered call that was cancelled', async () => {
    const store = await scene.open();
    const lost = await holdOne(store, await openSession(store));
    await store.startCall(startRequest(lost, { effect: 'read' }));
    await store.cancelCall(cancelRequest(lost.callId));
    const taken = await reclaimOne(store, lost);
    expect(await store.startCall(startRequest(taken, { effect: 'read' }))).toEqual({ kind: 'cancelled' });
    expect((await recordOf(store, lost.callId)).starts).toBe(1);
  });

  it('start does not begin a call that was cancelled while held', async () => {
    const store = await scene.open();
    const delivery = await holdOne(store, await openSession(store));
    await store.cancelCall(cancelRequest(delivery.callId));
    expect(['cancelled', 'fenced']).toContain((await store.startCall(startRequest(delivery))).kind);
    expect(await recordOf(store, delivery.callId)).toMatchObject({ state: 'settled', starts: 0 });
  });
}
