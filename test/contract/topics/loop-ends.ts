import { expect, it } from 'vitest';
import { COUNTED_LOOP_ENDS } from '../../../src/domain/call/attempt.ts';
import type { RunId } from '../../../src/domain/identity/ids.ts';
import { MAX_LOOP_ENDS } from '../../../src/domain/identity/session.ts';
import type { AcceptAnswer, Delivery } from '../../../src/domain/ports/call-requests.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { newRunId } from '../../../src/domain/identity/new-id.ts';
import { args, settled } from '../attempt-fixtures.ts';
import {
  acceptOne,
  acceptRequest,
  claimMany,
  claimOne,
  holdOne,
  openSession,
  ownedBy,
  startRequest,
  type TestSession,
} from '../fixtures.ts';
import { storeTimeAfter, storeTimePasses } from '../observe.ts';
import type { Scene } from '../scene.ts';

const REST_MS = 600_000;

/** Makes the next call of this session; loop detection ends the run with it. */
async function endByLoop(store: Store, session: TestSession, restMs = REST_MS): Promise<Delivery> {
  const delivery = await holdOne(store, session);
  expect(await store.settleCall(settled(delivery, 'blocked', { endsRun: { restMs } }))).toBe('settled');
  return delivery;
}

async function nextRun(store: Store, session: TestSession): Promise<TestSession> {
  const run: RunId = newRunId();
  expect(await store.openRun({ session: session.id, run })).toBe('opened');
  return { ...session, run };
}

const attempt = (store: Store, session: TestSession, key: string): Promise<AcceptAnswer> =>
  store.acceptCall(acceptRequest(session, { key }));

/** What loop detection leaves behind when it ends a run. */
export function describeLoopEnds(scene: Scene): void {
  it('a call in a run that a loop ended gets that reason, with the rest of the time; other runs are unknown', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const before = await store.now();
    await endByLoop(store, session);
    const answer = await attempt(store, session, 'later');
    const passed = (await store.now()) - before;
    if (answer.kind !== 'run-ended') throw new Error(JSON.stringify(answer));
    expect(answer.restMs).toBeLessThanOrEqual(REST_MS);
    expect(answer.restMs).toBeGreaterThanOrEqual(REST_MS - passed);
    const unknown = { kind: 'unauthenticated', ending: 'run-unknown' };
    expect(await attempt(store, { ...session, run: newRunId() }, 'k')).toEqual(unknown);
    const byHand = await nextRun(store, session);
    await store.endRun({ session: byHand.id, run: byHand.run });
    expect(await attempt(store, byHand, 'k')).toEqual(unknown);
    expect(await attempt(store, { ...session, tokenDigest: 'f'.repeat(64) }, 'k')).toMatchObject({ ending: 'unknown' });
  });

  it('refused calls neither prolong the rest nor leave anything behind', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await endByLoop(store, session, 40);
    const endedBy = (await store.now()) + 40;
    const state = await store.readSession(session.id);
    const use = (await store.laneUse()).map(({ liveBytes, retainedBytes }) => [liveBytes, retainedBytes]);
    for (let number = 0; ; number += 1) {
      const answer = await attempt(store, session, `again ${number}`);
      if (answer.kind !== 'run-ended') throw new Error(JSON.stringify(answer));
      if (answer.restMs === 0) break;
      expect(await store.now()).toBeLessThan(endedBy + 5000);
    }
    // The rest time is over and stays over, but the run stays ended: the conversation needs another run.
    expect(await attempt(store, session, 'last')).toEqual({ kind: 'run-ended', restMs: 0 });
    expect(await store.readSession(session.id)).toEqual(state);
    expect((await store.laneUse()).map((lane) => [lane.liveBytes, lane.retainedBytes])).toEqual(use);
  });

  it('a key of before is still answered in a run that a loop ended', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const first = await holdOne(store, session, { key: 'first' });
    await store.settleCall(settled(first, 'ok'));
    await acceptOne(store, session, { key: 'open', ...args(1) });
    const last = await holdOneOf(store, session, args(2));
    await store.settleCall(settled(last, 'blocked', { endsRun: { restMs: REST_MS } }));
    expect(await attempt(store, session, 'first')).toMatchObject({ kind: 'replayed', callId: first.callId });
    expect(await store.acceptCall(acceptRequest(session, { key: 'open', ...args(1) }))).toMatchObject({
      kind: 'attached',
    });
    expect(await store.acceptCall(acceptRequest(session, { key: 'first', ...args(9) }))).toMatchObject({
      kind: 'conflict',
    });
    expect(await attempt(store, session, 'fresh')).toMatchObject({ kind: 'run-ended' });
    const stranger = await openSession(store, { subject: 'somebody-else' });
    const ofStranger = acceptRequest(stranger, { key: 'theirs' });
    expect(await store.acceptCall({ ...acceptRequest(session), callId: ofStranger.callId })).toMatchObject({
      kind: 'unauthenticated',
      ending: 'unknown',
    });
  });

  it('a run that is ended for a loop by its caller is remembered as one, and what the session counted is forgotten', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await store.settleCall(settled(await holdOne(store, session, args(1)), 'ok', { stall: 'stalled_' }));
    await store.endRun({ session: session.id, run: session.run, endedByLoop: { restMs: REST_MS } });
    expect(await attempt(store, session, 'later')).toMatchObject({ kind: 'run-ended' });
    const { runState } = await holdOne(store, await nextRun(store, session), args(2));
    expect([runState.loopEnds.length, runState.stalls]).toEqual([1, undefined]);
    // A run that is over cannot be ended a second time.
    await store.endRun({ session: session.id, run: session.run, endedByLoop: { restMs: REST_MS } });
    expect((await holdOne(store, await nextRun(store, session), args(3))).runState.loopEnds).toHaveLength(1);
  });

  it('calls that were queued when a loop ended their run do not start, and say why', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const recheck = () =>
      store.recheckSessions({ lane: session.lane, sessions: [{ session: session.id, run: session.run }] });
    const [first, second] = await holdTwo(store, session);
    const before = await recheck();
    await store.settleCall(settled(first, 'blocked', { endsRun: { restMs: REST_MS } }));
    const after = await recheck();
    expect(after.lane.epoch).not.toBe(before.lane.epoch);
    expect([before.endings, after.endings]).toEqual([[undefined], ['run-ended']]);
    expect(await store.startCall(startRequest(second))).toEqual({ kind: 'session-ended', ending: 'run-ended' });
  });

  it('the next runs get the times when runs were ended, the latest ones only, and an open run does not', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const beside = await nextRun(store, session);
    const ends: [number, number][] = [];
    for (let run = session, number = 0; number <= COUNTED_LOOP_ENDS; number += 1, run = await nextRun(store, session)) {
      await storeTimePasses(store, 2);
      const from = await store.now();
      await endByLoop(store, run);
      ends.push([from, await store.now()]);
    }
    const { runState } = await holdOne(store, await nextRun(store, session), args(5));
    expect(runState.loopEnds).toHaveLength(COUNTED_LOOP_ENDS);
    runState.loopEnds.forEach((endedAt, index) => {
      const [from, to] = ends.slice(-COUNTED_LOOP_ENDS)[index]!;
      expect(endedAt).toBeGreaterThanOrEqual(from);
      expect(endedAt).toBeLessThanOrEqual(to);
    });
    expect(runState).toMatchObject({ sequence: 1, toolSequence: 1, cost: 0 });
    expect((await holdOne(store, beside, args(6))).runState.loopEnds).toEqual([]);
    const stranger = await openSession(store);
    expect((await holdOne(store, stranger, args(7))).runState.loopEnds).toEqual([]);
  });

  it('a call that is queued again gets the same facts of ended runs and of its cost', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await endByLoop(store, session);
    const next = await nextRun(store, session);
    const paid = await holdOne(store, next, args(1));
    await store.settleCall(settled(paid, 'ok', { cost: 7 }));
    const held = await holdOne(store, next, args(2));
    expect(held.runState).toMatchObject({ cost: 7, loopEnds: [expect.any(Number)] });
    await store.abandonCall({ ...ownedBy(held), handedBack: false });
    expect((await claimOne(store, { lane: session.lane })).runState).toEqual(held.runState);
  });

  it('a run that a loop ended has its whole rest, however many others end after it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await endByLoop(store, session);
    for (let count = 0; count < MAX_LOOP_ENDS + 1; count += 1) await endByLoop(store, await nextRun(store, session), 1);
    expect(await attempt(store, session, 'later')).toMatchObject({ kind: 'run-ended' });
  });

  it('a session remembers a bounded number of ended runs; earlier ones are unknown', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const runs: TestSession[] = [session];
    for (let count = 0; count < MAX_LOOP_ENDS + 1; count += 1) {
      await endByLoop(store, runs.at(-1)!, 1);
      await storeTimePasses(store, 2);
      runs.push(await nextRun(store, session));
    }
    const kinds = await Promise.all(
      runs.slice(0, -1).map(async (run, number) => (await attempt(store, run, `after ${number}`)).kind),
    );
    expect(kinds).toEqual(['unauthenticated', ...Array(MAX_LOOP_ENDS).fill('run-ended')]);
    expect((await store.readSession(session.id))?.runs).toEqual([runs.at(-1)!.run]);
  });

  it('an ended run that is opened again under its id is open, and its counters start anew', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await endByLoop(store, session, 1);
    await storeTimeAfter(store, (await store.now()) + 2);
    await store.openRun({ session: session.id, run: session.run });
    const { runState } = await holdOne(store, session, args(3));
    expect(runState).toMatchObject({ sequence: 1, loopEnds: [expect.any(Number)] });
  });
}

async function holdTwo(store: Store, session: TestSession): Promise<[Delivery, Delivery]> {
  await acceptOne(store, session, args(1));
  await acceptOne(store, session, args(2));
  const [first, second] = await claimMany(store, { lane: session.lane });
  return [first!, second!];
}

/** Accepts a call with these arguments and claims it, even if other calls are queued. */
async function holdOneOf(store: Store, session: TestSession, which: ReturnType<typeof args>): Promise<Delivery> {
  const callId = await acceptOne(store, session, which);
  const found = (await claimMany(store, { lane: session.lane })).find((delivery) => delivery.callId === callId);
  if (found === undefined) throw new Error('it was not delivered');
  return found;
}
