import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor, endingsOf, holdRun, marksOf, queueCounts, runOnce, untilMarks } from './support/watch-plane.ts';

describe.each(BACKENDS)('a worker paused past its lease on %s', (backend) => {
  let plane: StagedPlane;
  beforeEach(async () => {
    plane = await stagePlane(backend);
  });
  afterEach(() => plane.stop());

  it('finds its calls recovered: its settlements are fenced, its tools aborted, the outcomes unchanged', async () => {
    const session = await plane.openSession();
    const paused = await plane.startWorker();
    // The late runs may end as soon as the worker goes on; the held runs end only when they are aborted.
    const runs = {
      lateRead: holdRun(plane, 'late-read', { firstOnly: true }),
      lateWrite: holdRun(plane, 'late-write', { firstOnly: true }),
      heldRead: holdRun(plane, 'held-read', { firstOnly: true }),
      heldWrite: holdRun(plane, 'held-write', { firstOnly: true }),
    };
    const calling = [
      callFor(plane, session, 'scenario.stubbornRead', runs.lateRead.args),
      callFor(plane, session, 'scenario.stubbornWrite', runs.lateWrite.args),
      callFor(plane, session, 'scenario.read', runs.heldRead.args),
      callFor(plane, session, 'scenario.write', runs.heldWrite.args),
    ];
    await untilMarks(plane, 'S', undefined, 4);
    paused.process.kill('SIGSTOP');
    const other = await plane.startWorker();

    const outcomes = await Promise.all(calling);
    expect(outcomes.map(({ kind }) => kind)).toStrictEqual(['ok', 'indeterminate', 'ok', 'indeterminate']);
    expect(outcomes[0]!.structured).toStrictEqual({ fence: 2 });
    const before = await endingsOf(plane);
    expect(before).toHaveLength(4);

    runs.lateRead.release();
    runs.lateWrite.release();
    paused.process.kill('SIGCONT');
    for (const { label } of [runs.heldRead, runs.heldWrite]) {
      const aborted = await untilMarks(plane, 'A', label);
      expect(aborted.map(({ pid }) => pid)).toStrictEqual([paused.process.pid]);
    }
    // Each late run ended in the resumed worker, whose settlement was dropped.
    await eventually(() => paused.process.stderr.split('outcome dropped').length - 1 >= 2, {
      what: 'two dropped outcomes in the log of the resumed worker',
    });
    expect(await endingsOf(plane)).toStrictEqual(before);
    for (const [index, { callId }] of startsOf(plane, paused.process.pid).entries()) {
      const again = await plane.client.result(session, callId);
      const kept = ['ok', 'indeterminate', 'ok', 'indeterminate'][index];
      expect(again).toMatchObject({ kind: 'settled', outcome: { kind: kept } });
    }
    for (const { label } of [runs.lateWrite, runs.heldWrite]) expect(marksOf(plane, 'S', label)).toHaveLength(1);
    for (const { label } of [runs.lateRead, runs.heldRead]) {
      expect(marksOf(plane, 'S', label).map(({ pid }) => pid)).toStrictEqual([paused.process.pid, other.process.pid]);
    }

    // The resumed worker takes calls again, and no worker holds anything of the old calls.
    await other.process.stop();
    expect((await callFor(plane, session, 'scenario.write', runOnce(plane, 'afterwards'))).kind).toBe('ok');
    expect(await queueCounts(plane)).toStrictEqual({ queued: 0, leased: 0 });
  });

  it('cannot settle a call that its new owner still runs', async () => {
    const session = await plane.openSession();
    const paused = await plane.startWorker();
    const second = holdRun(plane, 'second');
    const first = holdRun(plane, 'first', { thenUntil: second.args['until']! });
    const calling = callFor(plane, session, 'scenario.stubbornRead', first.args);
    await untilMarks(plane, 'S', 'first');
    paused.process.kill('SIGSTOP');
    const other = await plane.startWorker();
    const [, recovered] = await untilMarks(plane, 'S', 'first', 2);
    expect(recovered).toMatchObject({ pid: other.process.pid, fence: 2 });

    first.release();
    paused.process.kill('SIGCONT');
    await untilMarks(plane, 'E', 'first');
    await paused.process.waitForLine(/outcome dropped/);
    expect(await endingsOf(plane)).toStrictEqual([]);
    second.release();
    expect(await calling).toMatchObject({ kind: 'ok', structured: { fence: 2 } });
    expect(await endingsOf(plane)).toHaveLength(1);
  });
});

/** The first owner's starts, in the order in which the calls are listed above. */
function startsOf(plane: StagedPlane, pid: number) {
  const labels = ['late-read', 'late-write', 'held-read', 'held-write'];
  const starts = marksOf(plane, 'S').filter((mark) => mark.pid === pid);
  return labels.map((label) => starts.find((mark) => mark.label === label)!);
}
