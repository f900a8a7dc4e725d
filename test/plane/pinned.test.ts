import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import type { PinnedOptions } from '../../src/exports/worker.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { prepareCall } from '../../src/stages/accept/prepare-call.ts';
import { DEFAULT_ADMISSION } from '../../src/operate/defaults.ts';
import { indexTools } from '../../src/domain/tool/catalog.ts';
import { toolId } from '../../src/domain/identity/ids.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { eventually } from '../support/process.ts';
import { PINNED_MODULES, startPinnedCaller, type PinnedCaller } from './support/pinned-caller.ts';
import { BACKENDS, LEASE_MS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { endingsOf, holdRun, queueCounts, releaseRuns, runOnce, untilMarks } from './support/watch-plane.ts';

describe.each(BACKENDS)('a pinned tool on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  const callers: PinnedCaller[] = [];
  beforeEach(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
  });
  afterEach(async () => {
    releaseRuns();
    await Promise.all(callers.splice(0).map((caller) => caller.process.stop(0)));
    await plane.stop();
  });

  async function startCaller(options: Partial<PinnedOptions> = {}): Promise<PinnedCaller> {
    const caller = await startPinnedCaller(plane, options);
    callers.push(caller);
    return caller;
  }
  const startFleetWorker = () => plane.startWorker({ modules: PINNED_MODULES });

  /** Sends a call as a client without support for pinned tools would. */
  async function sendToFleet(tool: string, key: string) {
    const found = indexTools(await plane.store.readCatalog()).get(toolId('desk', tool))!;
    const { pinned: _, ...unpinned } = found.tool;
    const prepared = prepareCall({
      session: session.id,
      run: session.run,
      proof: { kind: 'token', tokenDigest: sha256(session.token) },
      tool: { tool: unpinned, module: found.module },
      arguments: {},
      key,
      depth: 0,
      admission: DEFAULT_ADMISSION,
    });
    if (prepared.kind !== 'prepared') throw new Error('not prepared');
    return plane.store.acceptCall(prepared.request);
  }

  it("runs in the process of its caller, and the fleet's worker with the same module runs only the others", async () => {
    const worker = await startFleetWorker();
    const [one, other] = await Promise.all([startCaller(), startCaller()]);
    for (const caller of [one, other]) {
      const [here, there] = await Promise.all([
        caller.outcome(session, 'desk.here', {}),
        caller.outcome(session, 'desk.there', {}),
      ]);
      expect(here).toMatchObject({ kind: 'ok', structured: { pid: caller.process.pid } });
      expect(there).toMatchObject({ kind: 'ok', structured: { pid: worker.process.pid } });
    }
    const { modules } = await plane.store.readCatalog();
    expect(modules.map(({ id, pool }) => [id, pool])).toStrictEqual([['desk', 'default']]);
    expect((await endingsOf(plane)).filter(({ tool }) => tool === 'desk.here')).toHaveLength(2);
  });

  it('that normalises is judged by what its schema makes of the arguments', async () => {
    const rule = { id: 'no-prod', verdict: 'deny', arguments: [{ at: '/name', equals: 'prod.' }] } as const;
    await plane.setPolicy({ ...OPEN_POLICY, rules: [rule] });
    const caller = await startCaller();
    expect(await caller.outcome(session, 'desk.name', { name: ' PROD' })).toMatchObject({
      kind: 'denied',
      executed: 'no',
      error: { code: 'RULE_DENIED' },
    });
    const allowed = await caller.outcome(session, 'desk.name', { name: ' Test' });
    expect(allowed).toMatchObject({ kind: 'ok', structured: { name: 'test.' } });
  });

  it('is refused where it is not served, and nothing is accepted', async () => {
    await startFleetWorker();
    const answer = await plane.client.call(session, 'desk.here', {}, { key: 'refused' });
    expect(answer).toMatchObject({ kind: 'refused', outcome: { kind: 'denied', error: { code: 'TOOL_PINNED' } } });
    expect(await plane.store.readCall(callIdFor(session.id, 'refused')!)).toBeUndefined();
    expect(await endingsOf(plane)).toStrictEqual([]);
  });

  it('is not run by a worker of the fleet, even if it is put into its queue', async () => {
    await startFleetWorker();
    expect(await sendToFleet('here', 'forged')).toMatchObject({ kind: 'accepted' });
    const answer = await plane.client.wait(session, callIdFor(session.id, 'forged')!, { waitMs: 60_000 });
    expect(answer).toMatchObject({ outcome: { kind: 'denied', executed: 'no', error: { code: 'TOOL_PINNED' } } });
  });

  it('cannot be called by a tool of the fleet, and calls tools of the fleet and of its own process', async () => {
    const worker = await startFleetWorker();
    const caller = await startCaller();
    expect(await caller.outcome(session, 'desk.reach', { tool: 'desk.here' })).toMatchObject({
      structured: { pid: worker.process.pid, kind: 'denied', executed: 'no', code: 'TOOL_PINNED' },
    });
    for (const [tool, { pid }] of [
      ['desk.there', worker.process],
      ['desk.here', caller.process],
    ] as const) {
      expect(await caller.outcome(session, 'desk.compound', { tool })).toMatchObject({
        structured: { pid: caller.process.pid, kind: 'ok', structured: { pid } },
      });
    }
  });

  it('is refused by permission and by selection at its execution, and the audit says so', async () => {
    const caller = await startCaller();
    await plane.setPolicy({ ...OPEN_POLICY, permissions: { 'desk.here': { allow: ['bob'] } } });
    expect(await caller.outcome(session, 'desk.here', {})).toMatchObject({
      kind: 'denied',
      error: { code: 'PERMISSION_DENIED' },
    });
    const selecting = (tools: string[]) => ({ main: { selection: [{ module: 'desk', tools }] } });
    await plane.setPolicy({ ...OPEN_POLICY, agents: selecting(['there']) });
    expect(await caller.outcome(session, 'desk.here', {})).toMatchObject({
      kind: 'denied',
      error: { code: 'NOT_SELECTED' },
    });
    await plane.setPolicy({ ...OPEN_POLICY, agents: selecting(['here']) });
    expect(await caller.outcome(session, 'desk.here', {})).toMatchObject({ kind: 'ok' });
    expect((await endingsOf(plane)).map(({ outcome, code }) => code ?? outcome)).toStrictEqual([
      'PERMISSION_DENIED',
      'NOT_SELECTED',
      'ok',
    ]);
  });

  it('is in a queue that no other caller reads, under a name that no worker can serve', async () => {
    const caller = await startCaller();
    const neighbour = await startCaller();
    const held = holdRun(plane, 'held');
    const answer = caller.call(session, 'desk.look', held.args, { key: 'held' });
    const [mark] = await untilMarks(plane, 'S', 'held');
    expect(mark!.pid).toBe(caller.process.pid);
    const { pool } = (await plane.store.readCall(callIdFor(session.id, 'held')!))!;
    const pools = (await plane.store.listWorkers()).map((worker) => worker.pool);
    expect(new Set([pool, ...pools]).size).toBe(2);
    await expect(plane.startWorker({ pool })).rejects.toThrow(/is not a name/);
    // The owner is stopped for longer than a lease: the neighbour must not take the call over.
    caller.process.kill('SIGSTOP');
    const leased = await plane.store.now();
    await eventually(async () => (await plane.store.now()) > leased + 2 * LEASE_MS);
    expect(await neighbour.outcome(session, 'desk.here', {})).toMatchObject({ kind: 'ok' });
    held.release();
    caller.process.kill('SIGCONT');
    expect(await answer).toMatchObject({ outcome: { kind: 'ok', structured: { pid: caller.process.pid } } });
  });

  it.each([
    ['desk.change', { kind: 'indeterminate', executed: 'unknown', error: { code: 'MAY_HAVE_RUN' } }],
    ['desk.look', { kind: 'timed-out', executed: 'unknown' }],
  ])('killed inside %s is ended by the fleet at its deadline, honestly', async (tool, outcome) => {
    await startFleetWorker();
    const caller = await startCaller();
    const key = 'lost';
    void caller.call(session, tool, holdRun(plane, 'lost').args, { key, deadlineMs: 5000 });
    await untilMarks(plane, 'S', 'lost');
    caller.process.kill('SIGKILL');
    const answer = await plane.client.wait(session, callIdFor(session.id, key)!, { waitMs: 60_000 });
    expect(answer).toMatchObject({ kind: 'settled', outcome });
    expect(await endingsOf(plane, callIdFor(session.id, key))).toHaveLength(1);
    expect(await queueCounts(plane)).toStrictEqual({ queued: 0, leased: 0 });
  });

  it('leaves no queue behind, neither when its process closes nor when it died', async () => {
    const leaving = await startCaller();
    const running = holdRun(plane, 'running');
    const first = leaving.call(session, 'desk.change', running.args);
    await untilMarks(plane, 'S', 'running');
    leaving.process.kill('SIGTERM');
    await eventually(async () => (await plane.store.listWorkers()).some(({ state }) => state === 'draining'));
    expect(await leaving.outcome(session, 'desk.here', {})).toMatchObject({ error: { code: 'TOOL_PINNED' } });
    running.release();
    expect(await first).toMatchObject({ outcome: { kind: 'ok' } });
    expect((await leaving.process.exited).code).toBe(0);
    expect(await privateKeys(plane)).toStrictEqual([]);

    const dying = await startCaller();
    expect(await dying.outcome(session, 'desk.change', runOnce(plane, 'once'))).toMatchObject({ kind: 'ok' });
    dying.process.kill('SIGKILL');
    const isListed = async () => (await plane.store.listWorkers()).length > 0;
    await eventually(async () => !(await isListed()), { what: 'its registration to run out' });
    await plane.store.reapCalls({
      lane: 0,
      pools: ['default'],
      limit: 1,
      overdueMs: 0,
      consumerIdleMs: 0,
      retentionMs: 1000,
      expired: NO_BYTES,
      timedOut: NO_BYTES,
      mayHaveRun: NO_BYTES,
      bodyLost: NO_BYTES,
      approvalExpired: NO_BYTES,
      sessionEnded: NO_BYTES,
      audit: NO_BYTES,
    });
    expect(await privateKeys(plane)).toStrictEqual([]);
  });

  it('that waits when its process closes is ended then, and not at its deadline', async () => {
    const caller = await startCaller({ concurrency: 1, graceMs: 500 });
    const held = holdRun(plane, 'held');
    void caller.call(session, 'desk.look', held.args, { key: 'running' });
    await untilMarks(plane, 'S', 'held');
    void caller.call(session, 'desk.here', {}, { key: 'waiting' });
    await eventually(() => plane.store.readCall(callIdFor(session.id, 'waiting')!));
    caller.process.kill('SIGTERM');
    expect((await caller.process.exited).code).toBe(0);
    expect(await plane.client.result(session, callIdFor(session.id, 'waiting')!)).toMatchObject({
      outcome: { executed: 'no', error: { code: 'TOOL_PINNED' } },
    });
    // The call was given back when the grace time was over. It had started, so it is unknown what it did.
    expect(await plane.client.result(session, callIdFor(session.id, 'running')!)).toMatchObject({
      outcome: { executed: 'unknown', error: { code: 'TOOL_PINNED' } },
    });
    expect(await privateKeys(plane)).toStrictEqual([]);
  });
});

const NO_BYTES = new Uint8Array();

/** Keys and names that belong to private queues. */
async function privateKeys({ redis }: StagedPlane): Promise<string[]> {
  if (redis === undefined) return [];
  const found = [
    ...(await redis.cli('KEYS', '*')).split('\n'),
    ...(await redis.cli('SMEMBERS', '{sallyport}:pools')).split('\n'),
  ];
  return found.filter((name) => name.includes('caller~'));
}
