import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Client, SessionHandle } from '../../src/exports/client.ts';
import type { CallId } from '../../src/domain/identity/ids.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, LEASE_MS, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import {
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  releaseRuns,
  runOnce,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

async function untilWaiters(plane: StagedPlane, callId: CallId, count: number): Promise<void> {
  await eventually(async () => (await plane.store.readCall(callId))?.waiters === count, { what: `${count} waiters` });
}

describe.each(BACKENDS)('a call made again on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  let other: Client;
  let worker: PlaneWorker;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
    other = await plane.connect();
    worker = await plane.startWorker();
  });
  afterEach(releaseRuns);
  afterAll(() => plane.stop());

  it('under the same key while it runs is one run with an answer for each waiter', async () => {
    const run = holdRun(plane, 'during');
    const callId = callIdFor(session.id, 'during')!;
    const first = callFor(plane, session, 'scenario.write', run.args, { key: 'during' });
    await untilMarks(plane, 'S', 'during');
    const second = callFor(plane, session, 'scenario.write', run.args, { key: 'during', client: other });
    await untilWaiters(plane, callId, 2);
    run.release();
    expect((await first).kind).toBe('ok');
    expect(await second).toStrictEqual(await first);
    expect(marksOf(plane, 'S', 'during').map((mark) => mark.callId)).toStrictEqual([callId]);
    expect(await endingsOf(plane, callId)).toHaveLength(1);
  });

  it('under the same key after its end is answered from the record, by another session of the subject too', async () => {
    const args = runOnce(plane, 'after');
    const first = await callFor(plane, session, 'scenario.write', args, { key: 'after' });
    const again = await callFor(plane, session, 'scenario.write', args, { key: 'after', client: other });
    const sameSubject = await plane.openSession();
    const elsewhere = await callFor(plane, sameSubject, 'scenario.write', args, { key: 'after' });
    expect(first.kind).toBe('ok');
    expect([again, elsewhere]).toStrictEqual([first, first]);
    expect(marksOf(plane, 'S', 'after')).toHaveLength(1);
  });

  it('under the same key with other arguments or another tool is a conflict that leaves nothing behind', async () => {
    const args = runOnce(plane, 'conflict');
    await callFor(plane, session, 'scenario.write', args, { key: 'conflict' });
    const before = await endingsOf(plane);
    for (const [tool, changed] of [
      ['scenario.write', { ...args, label: 'changed' }],
      ['scenario.read', args],
    ] as const) {
      const answer = await plane.client.call(session, tool, changed, { key: 'conflict' });
      expect(answer).toMatchObject({ kind: 'refused', outcome: { kind: 'conflict', executed: 'no' } });
    }
    expect(await endingsOf(plane)).toStrictEqual(before);
    expect(marksOf(plane, 'S', 'conflict')).toHaveLength(1);
    expect(marksOf(plane, 'S', 'changed')).toHaveLength(0);
  });

  it('under the same key by another subject is a call of its own', async () => {
    const bob = await plane.openSession('bob');
    const args = runOnce(plane, 'own');
    await callFor(plane, session, 'scenario.write', args, { key: 'own' });
    await callFor(plane, bob, 'scenario.write', args, { key: 'own' });
    const callIds = marksOf(plane, 'S', 'own').map((mark) => mark.callId);
    expect(callIds).toStrictEqual([callIdFor(session.id, 'own'), callIdFor(bob.id, 'own')]);
  });

  it('a hundred times at once over two connections runs once', async () => {
    const run = holdRun(plane, 'storm');
    const storm = Array.from({ length: 100 }, (_, index) =>
      callFor(plane, session, 'scenario.write', run.args, {
        key: 'storm',
        client: index % 2 === 0 ? plane.client : other,
      }),
    );
    await untilMarks(plane, 'S', 'storm');
    await untilWaiters(plane, callIdFor(session.id, 'storm')!, 100);
    run.release();
    const outcomes = await Promise.all(storm);
    expect(outcomes.every((outcome) => outcome.kind === 'ok')).toBe(true);
    expect(marksOf(plane, 'S', 'storm')).toHaveLength(1);
    expect(await endingsOf(plane, callIdFor(session.id, 'storm')!)).toHaveLength(1);
  });

  it('long after, beside tools that outlive their lease several times and are not stolen', async () => {
    const early = await callFor(plane, session, 'scenario.write', runOnce(plane, 'early'), { key: 'early' });
    const sweeping = await plane.startWorker();
    const held = holdRun(plane, 'long');
    const long = callFor(plane, session, 'scenario.write', held.args, { key: 'long' });
    await untilMarks(plane, 'S', 'long');
    const busy = callFor(plane, session, 'scenario.busy', { ...runOnce(plane, 'busy'), ms: 1.5 * LEASE_MS });
    await untilStoreTime(plane, 2.5 * LEASE_MS);
    const retried = callFor(plane, session, 'scenario.write', held.args, { key: 'long', client: other });
    await untilWaiters(plane, callIdFor(session.id, 'long')!, 2);
    held.release();

    expect(await Promise.all([long, retried, busy])).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }, { kind: 'ok' }]);
    expect(marksOf(plane, 'S', 'long')).toMatchObject([{ fence: 1 }]);
    expect(marksOf(plane, 'S', 'busy')).toMatchObject([{ fence: 1 }]);
    expect(await callFor(plane, session, 'scenario.write', runOnce(plane, 'early'), { key: 'early' })).toStrictEqual(
      early,
    );
    expect(marksOf(plane, 'S', 'early')).toHaveLength(1);
    await sweeping.process.stop();
  });

  it('after its worker was killed: a read runs again, an unsafe one does not; every waiter gets its answer', async () => {
    const read = holdRun(plane, 'killed-read', { firstOnly: true });
    const write = holdRun(plane, 'killed-write', { firstOnly: true });
    const calling = [
      callFor(plane, session, 'scenario.read', read.args, { key: 'killed-read' }),
      callFor(plane, session, 'scenario.write', write.args, { key: 'killed-write' }),
    ];
    await untilMarks(plane, 'S', 'killed-read');
    await untilMarks(plane, 'S', 'killed-write');
    calling.push(
      callFor(plane, session, 'scenario.read', read.args, { key: 'killed-read', client: other }),
      callFor(plane, session, 'scenario.write', write.args, { key: 'killed-write', client: other }),
    );
    for (const key of ['killed-read', 'killed-write']) await untilWaiters(plane, callIdFor(session.id, key)!, 2);
    worker.process.kill('SIGKILL');
    await worker.process.exited;
    worker = await plane.startWorker();

    const outcomes = await Promise.all(calling);
    expect(outcomes.map(({ kind }) => kind)).toStrictEqual(['ok', 'indeterminate', 'ok', 'indeterminate']);
    expect(marksOf(plane, 'S', 'killed-read').map(({ fence }) => fence)).toStrictEqual([1, 2]);
    expect(marksOf(plane, 'S', 'killed-write')).toHaveLength(1);
    // An indeterminate outcome is an outcome: asking again replays it and runs nothing.
    const again = await callFor(plane, session, 'scenario.write', write.args, { key: 'killed-write' });
    expect(again).toStrictEqual(outcomes[1]);
    expect(marksOf(plane, 'S', 'killed-write')).toHaveLength(1);
    for (const key of ['killed-read', 'killed-write']) {
      expect(await endingsOf(plane, callIdFor(session.id, key)!)).toHaveLength(1);
    }
  });
});

describe.each(BACKENDS)('a call past its deadline on %s', (backend) => {
  let plane: StagedPlane;
  afterEach(() => plane.stop());

  it('is answered expired and never runs, and its key replays that', async () => {
    plane = await stagePlane(backend);
    const session = await plane.openSession();
    const publisher = await plane.startWorker();
    expect((await publisher.process.stop()).code).toBe(0);
    const args = runOnce(plane, 'late');
    const calling = callFor(plane, session, 'scenario.write', args, { key: 'late', deadlineMs: 200 });
    await eventually(async () => (await plane.store.listCalls({ limit: 10 })).length === 1);
    await untilStoreTime(plane, 250);
    await plane.startWorker();
    const outcome = await calling;
    expect(outcome).toMatchObject({ kind: 'expired', executed: 'no', error: { code: 'DEADLINE_PASSED' } });
    expect(await callFor(plane, session, 'scenario.write', args, { key: 'late' })).toStrictEqual(outcome);
    expect(plane.effects()).toStrictEqual([]);
    expect(await endingsOf(plane)).toHaveLength(1);
  });
});
