import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import { callIdFor, newRunId, newSessionId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptOne,
  acceptRequest,
  askAbout,
  claimMany,
  claimOne,
  encodedOutcome,
  holdOne,
  newWaiter,
  openSession,
  POOL,
  reapRequest,
  settleRequest,
  startRequest,
  TOOL,
} from '../fixtures.ts';
import { drainReplies, expectNothingWritten, recordOf, sameBytes, storeTimeAfter } from '../observe.ts';
import { eventually } from '../../support/process.ts';
import type { Scene } from '../scene.ts';

const UNKNOWN = { kind: 'unauthenticated', ending: 'unknown' };

export function describeAccept(scene: Scene): void {
  it('accept writes a queued record with the identity of the session and a deadline in store time', async () => {
    const store = await scene.open();
    const session = await openSession(store, { channel: 'ops', space: 'guild', platform: 'chat' });
    const before = await store.now();
    const request = acceptRequest(session, { deadlineMs: 5_000, waiter: newWaiter() });
    expect(await store.acceptCall(request)).toEqual({ kind: 'accepted', callId: request.callId });
    const after = await store.now();

    const record = await recordOf(store, request.callId);
    expect(record).toEqual({
      callId: request.callId,
      state: 'queued',
      tool: TOOL,
      pool: POOL,
      bodyDigest: request.bodyDigest,
      session: session.id,
      run: session.run,
      identity: session.identity,
      acceptedAt: record.acceptedAt,
      deadline: record.acceptedAt + 5_000,
      starts: 0,
      cancelRequested: false,
      waiters: 1,
    });
    expect(record.acceptedAt).toBeGreaterThanOrEqual(before);
    expect(record.acceptedAt).toBeLessThanOrEqual(after);
  });

  it('accept of the same key and body attaches one more waiter to the one call', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = acceptRequest(session, { key: 'k', waiter: newWaiter() });
    await store.acceptCall(first);
    const again = await store.acceptCall({ ...first, waiter: newWaiter() });

    expect(again).toEqual({ kind: 'attached', callId: first.callId, state: 'queued' });
    expect((await recordOf(store, first.callId)).waiters).toBe(2);
    expect(await claimMany(store, { lane: session.lane })).toHaveLength(1);
  });

  it('accept that attaches names the state of the call: held, running, parked', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { key: 'running' });
    const attach = (key: string) => store.acceptCall(acceptRequest(session, { key }));
    // The lease of a first delivery is not stored, so the call still shows as queued.
    expect(await attach('running')).toMatchObject({ kind: 'attached', state: 'queued' });
    await store.startCall(startRequest(delivery));
    expect(await attach('running')).toMatchObject({ kind: 'attached', state: 'running' });

    const other = await holdOne(store, session, { key: 'parked' });
    await askAbout(store, other);
    expect(await attach('parked')).toMatchObject({ kind: 'attached', state: 'parked' });
  });

  it('accept of the same key with another body is a conflict and adds no waiter', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const callId = await acceptOne(store, session, { key: 'k' });
    const answer = await store.acceptCall(
      acceptRequest(session, { key: 'k', arguments: '{"other":true}', waiter: newWaiter() }),
    );

    expect(answer).toEqual({ kind: 'conflict', callId });
    expect((await recordOf(store, callId)).waiters).toBe(0);
  });

  it('accept of a settled call replays its outcome, delivers nothing again and sends no reply', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { key: 'k' });
    const outcome = encodedOutcome('failed', 'disk full');
    await store.settleCall(settleRequest(delivery, outcome));
    const late = newWaiter();
    const answer = await store.acceptCall(acceptRequest(session, { key: 'k', waiter: late }));

    expect(answer).toEqual({ kind: 'replayed', callId: delivery.callId, outcome: sameBytes(outcome) });
    expect(await claimMany(store, { lane: session.lane })).toEqual([]);
    expect(await drainReplies(store, session.lane, late.callerId)).toEqual([]);
  });

  it('accept of a settled key with another body is still a conflict', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { key: 'k' });
    await store.settleCall(settleRequest(delivery));
    const answer = await store.acceptCall(acceptRequest(session, { key: 'k', arguments: '{"n":2}' }));
    expect(answer).toEqual({ kind: 'conflict', callId: delivery.callId });
  });

  it('accept gives two sessions of one subject the same call for the same key', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const second = await openSession(store, session.identity);
    const callId = await acceptOne(store, session, { key: 'k' });
    expect(await store.acceptCall(acceptRequest(second, { key: 'k' }))).toMatchObject({ kind: 'attached', callId });
  });

  it('accept gives two subjects different calls for the same key', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const other = await openSession(store, { lane: session.lane });
    const callId = await acceptOne(store, session, { key: 'k' });
    expect(await acceptOne(store, other, { key: 'k' })).not.toBe(callId);
  });

  it('accept answers a wrong token exactly as an unknown session, and writes nothing', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const wrong = acceptRequest(session, { proof: { kind: 'token', tokenDigest: 'f'.repeat(64) } });
    expect(await store.acceptCall(wrong)).toEqual(UNKNOWN);
    await expectNothingWritten(store, wrong.callId, session.lane);

    const absent = newSessionId('acme', session.identity.subject, store.lanes);
    const stranger = acceptRequest(session, { session: absent });
    expect(await store.acceptCall(stranger)).toEqual(UNKNOWN);
    await expectNothingWritten(store, stranger.callId, session.lane);
  });

  it("accept refuses a call id of another subject's scope before it looks at the record", async () => {
    const store = await scene.open();
    const victim = await openSession(store);
    const delivery = await holdOne(store, victim, { key: 'secret' });
    await store.settleCall(settleRequest(delivery));
    const thief = await openSession(store, { lane: victim.lane });

    const theft = acceptRequest(thief, { callId: delivery.callId, waiter: newWaiter() });
    expect(await store.acceptCall(theft)).toEqual(UNKNOWN);
    const fresh = callIdFor(victim.id, 'fresh') as CallId;
    expect(await store.acceptCall(acceptRequest(thief, { callId: fresh }))).toEqual(UNKNOWN);
    await expectNothingWritten(store, fresh, victim.lane);
  });

  it('accept names why a session ended: revoked, expired, idle, run unknown', async () => {
    const store = await scene.open();
    const revoked = await openSession(store);
    await store.revokeSession({ session: revoked.id });
    const expired = await openSession(store, { lifetimeMs: 5 });
    const idle = await openSession(store, { idleMs: 5 });
    await storeTimeAfter(store, (await store.now()) + 5);
    const live = await openSession(store);

    const endingOf = async (request: Parameters<typeof store.acceptCall>[0]) => {
      const answer = await store.acceptCall(request);
      expect(await store.readCall(request.callId)).toBeUndefined();
      return answer;
    };
    expect(await endingOf(acceptRequest(revoked))).toEqual({ kind: 'unauthenticated', ending: 'revoked' });
    // A store may have deleted an expired session: then its ending is `unknown`.
    expect(['expired', 'unknown']).toContain(Reflect.get(await endingOf(acceptRequest(expired)), 'ending'));
    expect(['expired', 'unknown']).toContain(Reflect.get(await endingOf(acceptRequest(idle)), 'ending'));
    expect(await endingOf(acceptRequest(live, { run: newRunId() }))).toEqual({
      kind: 'unauthenticated',
      ending: 'run-unknown',
    });
  });

  it('accept refuses an ended run and takes a newly opened one', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const run = newRunId();
    expect(await store.openRun({ session: session.id, run })).toBe('opened');
    await acceptOne(store, session, { run });
    await store.endRun({ session: session.id, run });
    expect(await store.acceptCall(acceptRequest(session, { run }))).toEqual({
      kind: 'unauthenticated',
      ending: 'run-unknown',
    });
    await acceptOne(store, session);
  });

  it('accept checks the session before it replays', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { key: 'k' });
    await store.settleCall(settleRequest(delivery));
    await store.revokeSession({ session: session.id });
    expect(await store.acceptCall(acceptRequest(session, { key: 'k' }))).toEqual({
      kind: 'unauthenticated',
      ending: 'revoked',
    });
  });

  it('accept keeps a megabyte of arbitrary bytes unchanged up to the delivery', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const envelope = randomBytes(1024 * 1024);
    await acceptOne(store, session, { envelope });
    const delivery = await claimOne(store, { lane: session.lane });
    expect(Buffer.compare(delivery.envelope, envelope)).toBe(0);
  });

  it('accept runs a key anew once its record has passed its retention', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const delivery = await holdOne(store, session, { key: 'k' });
    await store.settleCall(settleRequest(delivery, undefined, { retentionMs: 20 }));
    await eventually(
      async () => {
        await store.reapCalls(reapRequest(session.lane));
        return (await store.readCall(delivery.callId)) === undefined;
      },
      { what: 'the end of the retention' },
    );
    await acceptOne(store, session, { key: 'k' });
    expect(await claimMany(store, { lane: session.lane })).toHaveLength(1);
  });

  it('accept survives the end of every connection', async () => {
    const first = await scene.open();
    const session = await openSession(first);
    const callId = await acceptOne(first, session, { waiter: newWaiter() });
    await first.close();
    const second = await scene.open();
    expect(await recordOf(second, callId)).toMatchObject({ state: 'queued', waiters: 1 });
    expect((await claimOne(second, { lane: session.lane })).callId).toBe(callId);
  });
}
