import { expect, it } from 'vitest';
import {
  acceptMany,
  acceptOne,
  acceptRequest,
  cancelRequest,
  claimMany,
  claimOne,
  detail,
  encodedOutcome,
  holdOne,
  openSession,
  reapRequest,
  settleRequest,
  startRequest,
} from '../fixtures.ts';
import {
  auditEvents,
  auditOf,
  readCallAudit,
  readWholeAudit,
  recordOf,
  sameBytes,
  storeTimePasses,
} from '../observe.ts';
import type { Scene } from '../scene.ts';

export function describeAudit(scene: Scene): void {
  it('an audit record names the call and its identity, in store time, with the given bytes', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    await store.settleCall(settleRequest(delivery, undefined, { audit: detail('mine') }));
    const { settledAt } = await recordOf(store, delivery.callId);
    const entries = await readCallAudit(store, session.lane);
    expect(entries.map((entry) => ({ ...entry, identity: JSON.parse(entry.identity) as unknown }))).toEqual([
      {
        lane: session.lane,
        sequence: 2,
        at: settledAt,
        event: 'call.settled',
        callId: delivery.callId,
        tool: delivery.tool,
        session: session.id,
        run: delivery.run,
        bodyDigest: delivery.bodyDigest,
        identity: JSON.parse(delivery.identity) as unknown,
        detail: sameBytes(detail('mine')),
      },
    ]);
  });

  it('the audit has one ending per call, in the order they happened, without gaps', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const expired = await acceptOne(store, session, { deadlineMs: 5 });
    await storeTimePasses(store, 5);
    await store.reapCalls(reapRequest(session.lane));
    const settled = await holdOne(store, session);
    await store.startCall(startRequest(settled, { intent: detail('intent') }));
    const cancelled = await acceptOne(store, session);
    await store.cancelCall(cancelRequest(cancelled));
    await store.settleCall(settleRequest(settled));

    // The lane's own count reveals a lost record.
    const { length } = await readWholeAudit(store, session.lane);
    expect(await store.auditState({ lane: session.lane })).toMatchObject({ sequence: length });
    const entries = await readCallAudit(store, session.lane);
    expect(entries.map((entry) => [entry.event, entry.callId])).toEqual([
      ['call.expired', expired],
      ['call.intended', settled.callId],
      ['call.cancelled', cancelled],
      ['call.settled', settled.callId],
    ]);
    const times = entries.map((entry) => entry.at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('every lane counts its own sequence from 1', async () => {
    const store = await scene.open();
    for (let lane = 0; lane < store.lanes; lane += 1) {
      const session = await openSession(store, { lane });
      for (let count = 0; count < 2; count += 1) await store.settleCall(settleRequest(await holdOne(store, session)));
    }
    for (let lane = 0; lane < store.lanes; lane += 1) {
      const entries = await readWholeAudit(store, lane);
      expect(entries.map((entry) => [entry.lane, entry.sequence])).toEqual([
        [lane, 1],
        [lane, 2],
        [lane, 3],
      ]);
    }
  });

  it('readAudit starts at the given record and reads no more than the limit', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptMany(store, session, 5);
    for (const delivery of await claimMany(store, { lane: session.lane }))
      await store.settleCall(settleRequest(delivery));
    const page = await store.readAudit({ lane: session.lane, fromSequence: 2, limit: 3 });
    expect(page.map((entry) => entry.sequence)).toEqual([2, 3, 4]);
    expect(await store.readAudit({ lane: session.lane, fromSequence: 7, limit: 3 })).toEqual([]);
  });

  it('refused requests leave no audit record', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { key: 'k' });
    await store.acceptCall(acceptRequest(session, { key: 'k', arguments: '{"n":1}' }));
    await store.settleCall(settleRequest({ ...delivery, fence: delivery.fence - 1 }));
    await store.cancelCall(cancelRequest(acceptRequest(session).callId));
    expect(await readCallAudit(store, session.lane)).toEqual([]);
  });

  it('resolve adds the operator’s word to an indeterminate call and keeps its outcome', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session);
    const outcome = encodedOutcome('indeterminate');
    await store.settleCall(settleRequest(delivery, outcome));
    const { callId } = delivery;
    expect(await store.resolveCall({ callId, resolution: 'ran', audit: detail('ann saw it') })).toBe('resolved');
    expect(await recordOf(store, callId)).toMatchObject({
      state: 'settled',
      resolution: 'ran',
      outcome: sameBytes(outcome),
    });
    const [, resolved] = await auditOf(store, callId);
    expect(resolved).toMatchObject({ event: 'call.resolved', detail: sameBytes(detail('ann saw it')) });
    expect(await auditEvents(store, callId)).toEqual(['call.settled', 'call.resolved']);
  });

  it('resolve works on a call the reaper found overdue', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { deadlineMs: 300 });
    const { callId } = delivery;
    expect(await store.startCall(startRequest(delivery))).toMatchObject({ kind: 'started' });
    await storeTimePasses(store, 305);
    await store.reapCalls(reapRequest(session.lane, { overdueMs: 1 }));
    expect(await store.resolveCall({ callId, resolution: 'not-ran', audit: detail('') })).toBe('resolved');
    expect((await recordOf(store, callId)).resolution).toBe('not-ran');
  });

  it('resolve refuses calls that are not indeterminate and unknown calls', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const resolve = (callId: typeof queued) => store.resolveCall({ callId, resolution: 'ran', audit: detail('') });
    const queued = await acceptOne(store, session);
    expect(await resolve(queued)).toBe('not-indeterminate');
    await store.settleCall(settleRequest(await claimOne(store, { lane: session.lane })));
    expect(await resolve(queued)).toBe('not-indeterminate');
    expect(await resolve(acceptRequest(session).callId)).toBe('unknown');
    expect((await recordOf(store, queued)).resolution).toBeUndefined();
    expect(await auditEvents(store, queued)).toEqual(['call.settled']);
  });

  it('the mark of the last signed statement moves forward and never back', async () => {
    const store = await scene.open();
    expect(await store.statementMark()).toBeUndefined();
    const marks = [2, 10, 9].map((number) => ({ number, hash: String(number % 10).repeat(64) }));
    for (const mark of marks) await store.noteStatement(mark);
    await store.noteStatement({ number: 10, hash: 'f'.repeat(64) });
    expect(await store.statementMark()).toEqual(marks[1]);
  });
}
