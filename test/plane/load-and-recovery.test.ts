import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WorkerId } from '../../src/domain/identity/ids.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { acceptRequest, openSession as openTestSession } from '../contract/fixtures.ts';
import { createModuleFolder, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import {
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  queueCounts,
  releaseRuns,
  runOnce,
  untilLeased,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/load-plane', import.meta.url));
/** A lease so short that the calls of a stopped worker soon come back. */
const SHORT_LEASE_MS = 900;

describe.each(BACKENDS)('load and recovery on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  let workers: PlaneWorker[] = [];
  beforeAll(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
  });
  afterEach(async () => {
    releaseRuns();
    await Promise.all(workers.map((worker) => worker.process.stop()));
    workers = [];
  });
  afterAll(() => plane.stop());

  async function start(options: Parameters<StagedPlane['startWorker']>[0] = {}): Promise<PlaneWorker> {
    const worker = await plane.startWorker({ modules: MODULES, ...options });
    workers.push(worker);
    return worker;
  }
  async function kill(worker: PlaneWorker): Promise<void> {
    worker.process.kill('SIGKILL');
    await worker.process.exited;
  }

  describe('with one worker', () => {
    let worker: PlaneWorker;
    beforeAll(async () => {
      worker = await plane.startWorker({ modules: MODULES, concurrency: 4 });
    });
    afterAll(() => worker.process.stop());

    it('a call that reached a stalled worker does not run when its session was revoked before the stall ended', async () => {
      const other = await plane.openSession('bob');
      expect((await callFor(plane, other, 'load.read', runOnce(plane, 'prompt'))).kind).toBe('ok');
      const run = holdRun(plane, 'stall');
      const stalling = callFor(plane, session, 'load.stall', run.args);
      await untilMarks(plane, 'S', 'stall');
      const calling = callFor(plane, other, 'load.read', runOnce(plane, 'revoked'));
      await untilLeased(plane, 2);
      expect(await plane.client.revokeSession(other.id)).toBe('revoked');
      // Longer than a worker trusts the store's last answer about a call (`TRUST_SNAPSHOT_MS`).
      await untilStoreTime(plane, 500);
      run.release();
      expect((await stalling).kind).toBe('ok');
      // When no call is leased any more, the call of the revoked session has ended without a run.
      await eventually(async () => (await queueCounts(plane)).leased === 0, { what: 'no leased call' });
      expect((await calling).error?.code).toBe('SESSION_ENDED');
      expect(marksOf(plane, 'S', 'revoked')).toEqual([]);
    });

    it('results need the token of a session that lives', async () => {
      const own = await plane.openSession('carol');
      const answer = await plane.client.call(own, 'load.read', runOnce(plane, 'token'));
      if (answer.kind !== 'settled') throw new Error(`the call is ${answer.kind}`);
      expect(await plane.client.result(own, answer.callId)).toEqual(answer);
      const forged = { ...own, token: 'a guess' };
      const invalid = { code: 'SESSION_INVALID' };
      await expect(plane.client.result(forged, answer.callId)).rejects.toMatchObject(invalid);
      await expect(plane.client.wait(forged, answer.callId)).rejects.toMatchObject(invalid);
      await plane.client.revokeSession(own.id);
      await expect(plane.client.result(own, answer.callId)).rejects.toMatchObject(invalid);
      await expect(plane.client.wait(own, answer.callId)).rejects.toMatchObject(invalid);
    });

    it('nested calls end with a parent whose time is up', async () => {
      const run = holdRun(plane, 'orphan');
      const args = { ...runOnce(plane, 'short'), count: 2, tool: 'load.read', args: run.args };
      const outcome = await callFor(plane, session, 'load.crowdInTime', args);
      expect(outcome).toMatchObject({ kind: 'timed-out', executed: 'unknown' });
      const aborted = await untilMarks(plane, 'A', 'orphan', 2);
      expect(new Set(aborted.map(({ callId }) => callId)).size).toBe(2);
      await eventually(async () => (await queueCounts(plane)).leased === 0, { what: 'no leased call' });
      run.release();
      expect(marksOf(plane, 'E', 'orphan')).toEqual([]);
    });

    it('calls that wait for a tool that runs one at a time do not hold up other tools', async () => {
      const run = holdRun(plane, 'queueing');
      const queue = Array.from({ length: 12 }, () => callFor(plane, session, 'load.single', run.args));
      await untilMarks(plane, 'S', 'queueing');
      await untilLeased(plane, 12);
      const other = await plane.openSession('bob');
      const outcome = await callFor(plane, other, 'load.read', runOnce(plane, 'beside'));
      expect(outcome.kind).toBe('ok');
      expect(marksOf(plane, 'S', 'queueing')).toHaveLength(1);
      run.release();
      for (const each of await Promise.all(queue)) expect(each.kind).toBe('ok');
    });

    it('a call aborted before it was made never runs, one that may wait for ever is answered', async () => {
      for (let index = 0; index < 5; index += 1) {
        const answer = await plane.client.call(session, 'load.write', runOnce(plane, 'aborted'), {
          signal: AbortSignal.abort(),
        });
        expect(answer).toMatchObject({ kind: 'refused', outcome: { kind: 'cancelled', executed: 'no' } });
      }
      const run = holdRun(plane, 'patient');
      const waiting = plane.client.call(session, 'load.read', run.args, { waitMs: Infinity });
      await untilMarks(plane, 'S', 'patient');
      run.release();
      expect(await waiting).toMatchObject({ kind: 'settled', outcome: { kind: 'ok' } });
      expect(marksOf(plane, 'S', 'aborted')).toEqual([]);
    });

    it('arguments that only the tool itself refuses end as invalid, and nothing runs', async () => {
      const outcome = await callFor(plane, session, 'load.choosy', { ...runOnce(plane, 'choosy'), n: 1 });
      expect(outcome).toMatchObject({ kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_INVALID' } });
      expect(outcome.error?.message).toContain('must be above 5');
      expect(marksOf(plane, 'S', 'choosy')).toEqual([]);
    });
  });

  it('a parent that makes a hundred calls at once does not overrun its worker, and none of them is lost', async () => {
    await start({ concurrency: 2 });
    const args = { ...runOnce(plane, 'crowd'), count: 100, tool: 'load.brief', args: runOnce(plane, 'one-of-many') };
    const outcome = await callFor(plane, session, 'load.crowd', args);
    expect(outcome.structured).toEqual({ kinds: Array.from({ length: 100 }, () => 'ok') });
    let running = 0;
    let most = 0;
    for (const { letter } of marksOf(plane, undefined, 'one-of-many')) {
      running += letter === 'S' ? 1 : -1;
      most = Math.max(most, running);
    }
    expect(most).toBeLessThanOrEqual(3);
    expect(marksOf(plane, 'S', 'one-of-many')).toHaveLength(100);
  });

  it('a worker that meets its own call again after a pause stops the old run only', async () => {
    const worker = await start({ leaseMs: SHORT_LEASE_MS });
    const second = holdRun(plane, 'paused');
    const first = holdRun(plane, 'paused', { thenUntil: second.args['until']! });
    const calling = callFor(plane, session, 'load.deaf', first.args);
    const [started] = await untilMarks(plane, 'S', 'paused');
    worker.process.kill('SIGSTOP');
    await untilStoreTime(plane, SHORT_LEASE_MS + 100);
    // The test takes the lease over and lets it run out again, so that the worker's own recovery finds the call at once.
    const workerId = 'the-test' as WorkerId;
    const taking = { lane: 0, pool: 'default', workerId, limit: 10, leaseMs: SHORT_LEASE_MS };
    const { deliveries } = await plane.store.reclaimCalls(taking);
    expect(deliveries.map(({ callId }) => callId)).toEqual([started!.callId]);
    await untilStoreTime(plane, SHORT_LEASE_MS + 100);
    worker.process.kill('SIGCONT');
    const [, again] = await untilMarks(plane, 'S', 'paused', 2);
    await untilMarks(plane, 'A', 'paused');
    // Long enough for the heartbeat to ask about both leases several times.
    await untilStoreTime(plane, SHORT_LEASE_MS);
    expect(marksOf(plane, 'A', 'paused').map(({ fence }) => fence)).toEqual([1]);
    second.release();
    expect(await calling).toMatchObject({ kind: 'ok', structured: { fence: again!.fence } });
    expect(marksOf(plane, 'S', 'paused')).toHaveLength(2);
    expect(await endingsOf(plane, started!.callId)).toHaveLength(1);
  });

  it('a crowd of expired calls is terminal within deadline + 2 leases + 5 s', async () => {
    const leaseMs = 20_000;
    await start({ concurrency: 1, leaseMs });
    const run = holdRun(plane, 'blocking');
    const blocking = callFor(plane, session, 'load.read', run.args);
    await untilMarks(plane, 'S', 'blocking');
    const crowd = await openTestSession(plane.store);
    const requests = Array.from({ length: 500 }, () => acceptRequest(crowd, { pool: 'default', deadlineMs: 1000 }));
    const accepted = await Promise.all(requests.map((request) => plane.store.acceptCall(request)));
    expect(new Set(accepted.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    await eventually(async () => (await plane.store.listCalls({ limit: 10 })).length === 1, {
      everyMs: 100,
      what: 'all expired calls to be settled',
    });
    const records = await Promise.all(requests.map(({ callId }) => plane.store.readCall(callId)));
    const latenesses = records.map((record) => record!.settledAt! - record!.deadline);
    expect(Math.max(...latenesses)).toBeLessThan(2 * leaseMs + 5000);
    run.release();
    expect((await blocking).kind).toBe('ok');
  });

  it('a lost run without a start mark is not said not to have run', async () => {
    // The lease is longer than the deadline: otherwise another worker would run the call again before the deadline.
    const leaseMs = 8000;
    const worker = await start({ leaseMs });
    const run = holdRun(plane, 'unmarked');
    const calling = callFor(plane, session, 'load.again', run.args, { deadlineMs: 5000 });
    await untilMarks(plane, 'S', 'unmarked');
    await kill(worker);
    await start({ leaseMs });
    const outcome = await calling;
    expect(['expired', 'timed-out']).toContain(outcome.kind);
    expect(outcome.executed).toBe('unknown');
    expect(marksOf(plane, 'S', 'unmarked')).toHaveLength(1);
  });

  it('a tool that may start once is not started again after its worker was killed', async () => {
    const worker = await start({ leaseMs: SHORT_LEASE_MS });
    const run = holdRun(plane, 'once');
    const calling = callFor(plane, session, 'load.once', run.args);
    await untilMarks(plane, 'S', 'once');
    await kill(worker);
    await start({ leaseMs: SHORT_LEASE_MS });
    expect(await calling).toMatchObject({ kind: 'crashed', executed: 'unknown', error: { code: 'TOOL_POISONOUS' } });
    expect(marksOf(plane, 'S', 'once')).toHaveLength(1);
  });
});

describe.each(BACKENDS)('a rolling deploy on %s', (backend) => {
  let plane: StagedPlane;
  const folders: ModuleFolder[] = [];
  afterAll(async () => {
    await plane.stop();
    for (const folder of folders) folder.dispose();
  });

  /** Each version has one tool more than the one before. */
  const deployText = (version: string, tools: readonly string[]): string => `
import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineModule, jsonSchema, tool } from 'sallyport/tool';
const held = tool({
  description: 'Is held.', input: jsonSchema({ type: 'object' }), effect: 'read',
  run: async ({ file, label, until }, ctx) => {
    appendFileSync(file, \`S \${label} \${ctx.callId} \${ctx.fence} \${process.pid}\\n\`);
    while (until !== undefined && !existsSync(until)) await pause(10);
    return { done: true };
  },
});
export default defineModule({
  id: 'deploy', version: '${version}', description: 'Changes.',
  tools: { ${tools.map((name) => `${name}: held`).join(', ')} },
});`;

  async function deploy(version: string, tools: readonly string[]): Promise<PlaneWorker> {
    const folder = createModuleFolder({ 'deploy.mjs': deployText(version, tools) });
    folders.push(folder);
    return plane.startWorker({ modules: folder.path, concurrency: 1 });
  }

  it('never says that a tool is unknown while the only worker that has it is busy, and runs the call when it is not', async () => {
    plane = await stagePlane(backend);
    const session = await plane.openSession();
    await deploy('1.0.0', ['old']);
    const after = await deploy('2.0.0', ['old', 'fresh']);
    await plane.client.catalog();
    const run = holdRun(plane, 'busy');
    const busy = callFor(plane, session, 'deploy.fresh', run.args);
    const [mark] = await untilMarks(plane, 'S', 'busy');
    expect(mark!.pid).toBe(after.process.pid);

    const calling = callFor(plane, session, 'deploy.fresh', runOnce(plane, 'fresh'), { key: 'fresh' });
    // The old worker gives the call back and takes it again, because no other worker has a free slot.
    const callId = callIdFor(session.id, 'fresh')!;
    await eventually(async () => (await plane.store.readCall(callId)) !== undefined, {
      what: 'the call to be accepted',
    });
    run.release();
    expect((await busy).kind).toBe('ok');
    expect((await calling).kind).toBe('ok');
    expect(marksOf(plane, 'S', 'fresh')).toHaveLength(1);
    expect((await endingsOf(plane)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
  });
});
