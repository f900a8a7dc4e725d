import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChaosProxy, type ChaosProxy } from '../support/chaos-proxy.ts';
import { eventually } from '../support/process.ts';
import { stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor, endingsOf, holdRun, marksOf, runOnce, untilMarks } from './support/watch-plane.ts';

/** Only the connection to Redis can be lost by a single worker: the embedded store is a file of this machine. */
describe('a worker that loses redis after its claim', () => {
  let plane: StagedPlane;
  let proxy: ChaosProxy;
  beforeEach(async () => {
    plane = await stagePlane('redis');
    proxy = await startChaosProxy({ port: plane.redis!.port });
  });
  afterEach(async () => {
    await proxy.setMode({ kind: 'pass' });
    await plane.stop();
    await proxy.stop();
  });
  const throughProxy = () => ({ store: 'redis' as const, redis: { url: proxy.url } });

  async function cutOff(): Promise<void> {
    await proxy.setMode({ kind: 'refuse' });
    await proxy.cut();
  }

  it('for a moment settles when it is back: one run, one answer', async () => {
    const session = await plane.openSession();
    await plane.startWorker({ ...throughProxy(), leaseMs: 30_000 });
    const runs = [holdRun(plane, 'read'), holdRun(plane, 'write')];
    const calling = runs.map((run) => callFor(plane, session, `scenario.${run.label}`, run.args));
    await untilMarks(plane, 'S', undefined, 2);
    await cutOff();
    for (const run of runs) run.release();
    await untilMarks(plane, 'E', undefined, 2);
    expect(await endingsOf(plane)).toStrictEqual([]);
    await proxy.setMode({ kind: 'pass' });
    expect(await Promise.all(calling)).toMatchObject([{ kind: 'ok' }, { kind: 'ok' }]);
    expect(marksOf(plane, 'S')).toHaveLength(2);
    expect(await endingsOf(plane)).toHaveLength(2);
  });

  it('for longer than its lease is replaced: a read runs again, an unsafe call is indeterminate', async () => {
    const session = await plane.openSession();
    const lost = await plane.startWorker(throughProxy());
    const runs = [holdRun(plane, 'read', { firstOnly: true }), holdRun(plane, 'write', { firstOnly: true })];
    const calling = runs.map((run) => callFor(plane, session, `scenario.${run.label}`, run.args));
    await untilMarks(plane, 'S', undefined, 2);
    await cutOff();
    await plane.startWorker();
    const outcomes = await Promise.all(calling);
    expect(outcomes.map(({ kind }) => kind)).toStrictEqual(['ok', 'indeterminate']);
    const before = await endingsOf(plane);

    // The worker learns from the store that it has lost its calls, aborts their tools and takes calls again.
    await proxy.setMode({ kind: 'pass' });
    const aborted = await untilMarks(plane, 'A', undefined, 2);
    expect(aborted.map(({ pid }) => pid)).toStrictEqual([lost.process.pid, lost.process.pid]);
    expect(await endingsOf(plane)).toStrictEqual(before);
    expect(marksOf(plane, 'S', 'read').map(({ fence }) => fence)).toStrictEqual([1, 2]);
    expect(marksOf(plane, 'S', 'write')).toHaveLength(1);
  });

  it('at each answer of the way runs an unsafe tool once and answers once', async () => {
    const session = await plane.openSession();
    await plane.startWorker({ ...throughProxy(), leaseMs: 30_000, heartbeatMs: 500 });
    // Each request took effect in the store, but the worker did not get the answer.
    for (const request of ['start_calls', 'settle_calls', 'renew_calls']) {
      const run = holdRun(plane, request);
      await proxy.setMode({ kind: 'drop-reply', request });
      const dropped = proxy.counts.droppedReplies;
      const calling = callFor(plane, session, 'scenario.write', run.args);
      await untilMarks(plane, 'S', request);
      if (request === 'renew_calls') await untilDropped(dropped);
      run.release();
      expect((await calling).kind).toBe('ok');
      await untilDropped(dropped);
      expect(marksOf(plane, 'S', request)).toMatchObject([{ fence: 1 }]);
    }
    expect(await endingsOf(plane)).toHaveLength(3);
    expect((await callFor(plane, session, 'scenario.write', runOnce(plane, 'afterwards'))).kind).toBe('ok');
  });

  async function untilDropped(before: number): Promise<void> {
    await eventually(() => proxy.counts.droppedReplies > before, { what: 'a dropped reply' });
  }
});
