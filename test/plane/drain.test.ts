import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import {
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  runOnce,
  untilDraining,
  untilLeased,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

/** No test is long enough for this lease to run out, so a call that comes back at once was given back. */
const LONG_LEASE_MS = 120_000;

describe.each(BACKENDS)('a worker drained on %s', (backend) => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane(backend);
  });
  afterEach(() => plane.stop());

  it('finishes its 20 running calls and leaves 20 queued ones to another worker', async () => {
    const session = await plane.openSession();
    const first = await plane.startWorker({ concurrency: 20, leaseMs: LONG_LEASE_MS });
    const runs = Array.from({ length: 40 }, (_, index) => holdRun(plane, `call-${index}`));
    const calling = runs.map(({ args }, index) =>
      callFor(plane, session, index % 2 === 0 ? 'scenario.write' : 'scenario.read', args),
    );
    await untilMarks(plane, 'S', undefined, 20);
    first.process.kill('SIGTERM');
    await untilDraining(plane, first.workerId);
    const second = await plane.startWorker({ leaseMs: LONG_LEASE_MS });
    await untilMarks(plane, 'S', undefined, 40);
    for (const run of runs) run.release();

    const outcomes = await Promise.all(calling);
    expect(outcomes.map(({ kind }) => kind)).toStrictEqual(Array.from({ length: 40 }, () => 'ok'));
    expect((await first.process.exited).code).toBe(0);
    expect(first.process.stdout).toMatch(/^drained$/m);
    for (const { label } of runs) {
      expect(marksOf(plane, 'S', label)).toHaveLength(1);
      expect(marksOf(plane, 'E', label)).toHaveLength(1);
    }
    const ranBy = (pid: number): number => marksOf(plane, 'E').filter((mark) => mark.pid === pid).length;
    expect([ranBy(first.process.pid), ranBy(second.process.pid)]).toStrictEqual([20, 20]);
    expect((await endingsOf(plane)).map(({ outcome }) => outcome)).toStrictEqual(
      Array.from({ length: 40 }, () => 'ok'),
    );
    expect((await plane.store.listWorkers()).map(({ workerId }) => workerId)).toStrictEqual([second.workerId]);
  });

  it('takes no call that comes after the signal, although its last read still waits', async () => {
    const session = await plane.openSession();
    const first = await plane.startWorker({ leaseMs: LONG_LEASE_MS });
    const run = holdRun(plane, 'held');
    const holding = callFor(plane, session, 'scenario.write', run.args);
    await untilMarks(plane, 'S', 'held');
    first.process.kill('SIGTERM');
    await untilDraining(plane, first.workerId);
    const late = Array.from({ length: 5 }, (_, index) =>
      callFor(plane, session, index % 2 === 0 ? 'scenario.write' : 'scenario.read', runOnce(plane, `late-${index}`)),
    );
    // Longer than its read waits.
    await untilStoreTime(plane, 1500);
    expect(marksOf(plane, 'S')).toHaveLength(1);
    const second = await plane.startWorker({ leaseMs: LONG_LEASE_MS });
    expect((await Promise.all(late)).map(({ kind }) => kind)).toStrictEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
    run.release();
    expect((await holding).kind).toBe('ok');
    expect((await first.process.exited).code).toBe(0);
    const byFirst = marksOf(plane, 'S').filter(({ pid }) => pid === first.process.pid);
    expect(byFirst.map(({ label }) => label)).toStrictEqual(['held']);
    expect(marksOf(plane, 'S').filter(({ pid }) => pid === second.process.pid)).toHaveLength(5);
  });

  it('past its grace gives a read call back at once and ends an unsafe one as indeterminate', async () => {
    const session = await plane.openSession();
    const first = await plane.startWorker({ graceMs: 100, leaseMs: LONG_LEASE_MS });
    const read = holdRun(plane, 'read', { firstOnly: true });
    const write = holdRun(plane, 'write', { firstOnly: true });
    const reading = callFor(plane, session, 'scenario.read', read.args);
    const writing = callFor(plane, session, 'scenario.write', write.args);
    await untilMarks(plane, 'S', undefined, 2);
    const second = await plane.startWorker({ leaseMs: LONG_LEASE_MS });
    first.process.kill('SIGTERM');

    expect(await reading).toMatchObject({ kind: 'ok', executed: 'yes' });
    expect(await writing).toMatchObject({
      kind: 'indeterminate',
      executed: 'unknown',
      error: { code: 'MAY_HAVE_RUN' },
    });
    expect((await first.process.exited).code).toBe(0);
    expect(first.process.stdout).toMatch(/^drained$/m);
    expect(marksOf(plane, 'S', 'read').map(({ pid }) => pid)).toStrictEqual([first.process.pid, second.process.pid]);
    expect(marksOf(plane, 'S', 'write').map(({ pid }) => pid)).toStrictEqual([first.process.pid]);
    expect(
      marksOf(plane, 'A')
        .map(({ label }) => label)
        .toSorted(),
    ).toStrictEqual(['read', 'write']);
    expect(await endingsOf(plane)).toHaveLength(2);
  });

  it('past its grace gives back at once what it held but never started', async () => {
    const session = await plane.openSession();
    const first = await plane.startWorker({ graceMs: 100, leaseMs: LONG_LEASE_MS });
    const running = holdRun(plane, 'running');
    const behind = holdRun(plane, 'behind', { firstOnly: true });
    const runningCall = callFor(plane, session, 'scenario.single', running.args);
    await untilMarks(plane, 'S', 'running');
    const behindCall = callFor(plane, session, 'scenario.single', behind.args);
    await untilLeased(plane, 2);
    const second = await plane.startWorker({ leaseMs: LONG_LEASE_MS });
    first.process.kill('SIGTERM');

    expect((await runningCall).kind).toBe('indeterminate');
    const started = await untilMarks(plane, 'S', 'behind');
    expect(started.map(({ pid }) => pid)).toStrictEqual([second.process.pid]);
    behind.release();
    expect((await behindCall).kind).toBe('ok');
  });

  it('ends at once on a second signal, and the calls it held are recovered', async () => {
    const session = await plane.openSession();
    const first = await plane.startWorker();
    const read = holdRun(plane, 'read', { firstOnly: true });
    const write = holdRun(plane, 'write');
    const reading = callFor(plane, session, 'scenario.read', read.args);
    const writing = callFor(plane, session, 'scenario.write', write.args);
    await untilMarks(plane, 'S', undefined, 2);
    first.process.kill('SIGINT');
    await untilDraining(plane, first.workerId);
    first.process.kill('SIGTERM');
    expect((await first.process.exited).code).toBe(1);
    expect(first.process.stdout).not.toMatch(/drained/);
    expect(await endingsOf(plane)).toStrictEqual([]);

    await plane.startWorker();
    expect((await reading).kind).toBe('ok');
    expect((await writing).kind).toBe('indeterminate');
    expect(marksOf(plane, 'S', 'write')).toHaveLength(1);
    expect(await endingsOf(plane)).toHaveLength(2);
  });

  it('drains on SIGINT as on SIGTERM', async () => {
    const session = await plane.openSession();
    const worker = await plane.startWorker();
    const run = holdRun(plane, 'held');
    const calling = callFor(plane, session, 'scenario.write', run.args);
    await untilMarks(plane, 'S', 'held');
    worker.process.kill('SIGINT');
    await untilDraining(plane, worker.workerId);
    run.release();
    expect((await calling).kind).toBe('ok');
    expect((await worker.process.exited).code).toBe(0);
    expect(worker.process.stdout).toMatch(/^drained$/m);
  });
});
