import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallAnswer, Outcome, SessionHandle } from '../../src/exports/client.ts';
import type { OwnedCall } from '../../src/domain/ports/call-requests.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { callIdFor, newWorkerId, randomId } from '../../src/domain/identity/new-id.ts';
import { createHeldCalls } from '../../src/worker/held-calls.ts';
import { supervise, type StopOrder } from '../../src/worker/supervise.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import {
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  queueCounts,
  runOnce,
  untilLeased,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

const fixture = (path: string): string => fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url));
/** A lease so long that a worker can learn of a cancellation only by looking for it: the next renewal comes minutes later. */
const LONG_LEASE_MS = 900_000;
const CONCURRENCY = 8;

/** The tools inline, and the same once more in processes of their own. */
function writeManifest(folder: string): string {
  const file = join(folder, 'modules.json');
  const modules = [
    { file: fixture('plane/basic.mjs') },
    { file: fixture('plane/scenario.mjs') },
    { file: fixture('plane/scenario.mjs'), id: 'isolated', runner: 'process' },
    { file: fixture('cancel-plane/limited.mjs') },
  ];
  writeFileSync(file, JSON.stringify({ modules }));
  return file;
}

/** Whether the outcome agrees with the number of starts and with the answer to the cancel request. */
function isTrueEnding({ answer, starts, kind, executed }: { answer: string; starts: number } & Outcome): boolean {
  if (starts > 1 || (executed === 'no' && starts > 0)) return false;
  if (kind === 'ok') return starts === 1 && answer !== 'cancelled';
  return kind === 'cancelled' && answer !== 'settled';
}

describe.each(BACKENDS)('cancelling a call on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.startWorker({ modules: writeManifest(plane.folder), leaseMs: LONG_LEASE_MS, concurrency: CONCURRENCY });
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  const cancelled = (executed: string) => ({ kind: 'cancelled', executed, error: { code: 'CALL_CANCELLED' } });
  const callIdOf = (key: string) => callIdFor(session.id, key)!;

  async function expectOneEnding(key: string): Promise<void> {
    expect(await endingsOf(plane, callIdOf(key))).toHaveLength(1);
  }

  it('that is queued: it ends at once and never starts, not even when a worker is free again', async () => {
    const args = runOnce(plane, 'queued');
    const runs = Array.from({ length: CONCURRENCY }, (_, index) => holdRun(plane, `busy-${index}`));
    const busy = runs.map((run) => callFor(plane, session, 'scenario.write', run.args));
    for (const { label } of runs) await untilMarks(plane, 'S', label);
    const calling = callFor(plane, session, 'scenario.write', args, { key: 'queued' });
    await eventually(async () => (await queueCounts(plane)).queued === 1);
    expect(await plane.client.cancel(session, callIdOf('queued'))).toBe('cancelled');
    expect(await calling).toMatchObject(cancelled('no'));
    for (const run of runs) run.release();
    expect((await Promise.all(busy)).map(({ kind }) => kind)).toStrictEqual(runs.map(() => 'ok'));
    expect((await callFor(plane, session, 'scenario.write', runOnce(plane, 'later'))).kind).toBe('ok');
    expect(marksOf(plane, 'S', 'queued')).toStrictEqual([]);
    expect(await callFor(plane, session, 'scenario.write', args, { key: 'queued' })).toStrictEqual(await calling);
    await expectOneEnding('queued');
  });

  it.each(['limited.read', 'limited.write'])(
    'of %s that a worker holds and has not started: it never starts',
    async (tool) => {
      const key = `held-${tool}`;
      const running = holdRun(plane, `running-${tool}`);
      const first = callFor(plane, session, tool, running.args);
      await untilMarks(plane, 'S', running.label);
      const calling = callFor(plane, session, tool, runOnce(plane, key), { key });
      await untilLeased(plane, 2);
      expect(await plane.client.cancel(session, callIdOf(key))).toBe('cancelled');
      expect(await calling).toMatchObject({ kind: 'cancelled' });
      // An unsafe call asks the store before it starts. A read call does not; its worker learns of the cancellation within a second.
      if (tool === 'limited.read') await untilStoreTime(plane, 1000);
      running.release();
      expect((await first).kind).toBe('ok');
      expect((await callFor(plane, session, tool, runOnce(plane, 'next'))).kind).toBe('ok');
      expect(marksOf(plane, 'S', key)).toStrictEqual([]);
      await expectOneEnding(key);
    },
  );

  const RUNNING = [
    { tool: 'scenario.read', answer: 'cancelled' },
    { tool: 'scenario.write', answer: 'cancelling' },
    { tool: 'scenario.stubbornWrite', answer: 'cancelling' },
    { tool: 'isolated.read', answer: 'cancelled' },
    { tool: 'isolated.write', answer: 'cancelling' },
    { tool: 'isolated.stubbornWrite', answer: 'cancelling' },
  ] as const;

  it.each(RUNNING)(
    'of $tool that runs is $answer: the tool sees the abort, the call ends',
    async ({ tool, answer }) => {
      const run = holdRun(plane, `running-${tool}-${randomId()}`);
      const key = run.label;
      const calling = callFor(plane, session, tool, run.args, { key });
      await untilMarks(plane, 'S', run.label);
      const cancelledAt = performance.now();
      expect(await plane.client.cancel(session, callIdOf(key))).toBe(answer);
      await untilMarks(plane, 'A', run.label);
      const abortMs = performance.now() - cancelledAt;
      expect(await calling).toMatchObject(cancelled('unknown'));
      const answeredMs = performance.now() - cancelledAt;
      console.log(
        `${backend} ${tool}: abort seen after ${Math.round(abortMs)} ms, answered after ${Math.round(answeredMs)} ms`,
      );
      // Whatever the stubborn tool does after the cancellation, the outcome stays.
      run.release();
      expect(await plane.client.cancel(session, callIdOf(key))).toBe('settled');
      expect(marksOf(plane, 'S', run.label)).toHaveLength(1);
      await expectOneEnding(key);
    },
  );

  it('that is settled changes nothing', async () => {
    const outcome = await callFor(plane, session, 'scenario.write', runOnce(plane, 'done'), { key: 'done' });
    const record = await plane.store.readCall(callIdOf('done'));
    expect(await plane.client.cancel(session, callIdOf('done'))).toBe('settled');
    expect(await plane.store.readCall(callIdOf('done'))).toStrictEqual(record);
    expect(await callFor(plane, session, 'scenario.write', runOnce(plane, 'done'), { key: 'done' })).toStrictEqual(
      outcome,
    );
    await expectOneEnding('done');
  });

  it('that does not exist, or belongs to another subject, is refused as unknown; its own subject may from any session', async () => {
    const run = holdRun(plane, 'foreign');
    const calling = callFor(plane, session, 'scenario.write', run.args, { key: 'foreign' });
    await untilMarks(plane, 'S', 'foreign');
    const bob = await plane.openSession('bob');
    const revoked = await plane.openSession();
    await plane.client.revokeSession(revoked.id);
    const attempts: readonly (readonly [string, SessionHandle, string])[] = [
      ['a call nobody made', session, callIdOf('never')],
      ["somebody else's call", bob, callIdOf('foreign')],
      ["somebody else's session", { ...session, id: bob.id }, callIdOf('foreign')],
      ['an empty token', { ...session, token: '' }, callIdOf('foreign')],
      ["somebody else's token", { ...session, token: bob.token }, callIdOf('foreign')],
      ['a revoked session', revoked, callIdOf('foreign')],
    ];
    const answers = await Promise.all(
      attempts.map(([what, caller, callId]) =>
        plane.client.cancel(caller, callId).then(
          (answer) => `${what}: ${answer}`,
          (error: unknown) => (error as { code?: unknown }).code,
        ),
      ),
    );
    expect(answers).toStrictEqual(attempts.map(() => 'CALL_UNKNOWN'));
    expect(marksOf(plane, 'A', 'foreign')).toStrictEqual([]);
    const another = await plane.openSession();
    expect(await plane.client.cancel(another, callIdOf('foreign'))).toBe('cancelling');
    expect(await calling).toMatchObject(cancelled('unknown'));
  });

  it('by an abort signal while it runs: the caller gets its one answer', async () => {
    const run = holdRun(plane, 'signal');
    const controller = new AbortController();
    const calling = callFor(plane, session, 'scenario.write', run.args, { key: 'signal', signal: controller.signal });
    await untilMarks(plane, 'S', 'signal');
    controller.abort();
    expect(await calling).toMatchObject(cancelled('unknown'));
    expect(marksOf(plane, 'A', 'signal')).toHaveLength(1);
    await expectOneEnding('signal');
  });

  it('by a signal that was aborted before: nothing of it ever starts', async () => {
    const signal = AbortSignal.abort();
    const ends: CallAnswer[] = [];
    for (let index = 0; index < 20; index += 1) {
      ends.push(
        await plane.client.call(session, 'scenario.write', runOnce(plane, 'aborted-before'), {
          signal,
          waitMs: 60_000,
        }),
      );
    }
    expect(marksOf(plane, 'S', 'aborted-before')).toStrictEqual([]);
    for (const end of ends) expect(end).toMatchObject({ outcome: { kind: 'cancelled', executed: 'no' } });
  });

  it('in a race with its settlement, fifty times: one true ending each, the same for every reader', async () => {
    const keys = Array.from({ length: 50 }, (_, index) => `race-${index}`);
    const pairs = await Promise.all(
      keys.map(async (key, index) => {
        const tool = index % 2 === 0 ? 'scenario.write' : 'scenario.read';
        const calling = callFor(plane, session, tool, runOnce(plane, key), { key });
        // Some calls are cancelled before they are accepted, most of them later, on their way to a worker or back.
        const record = (index % 5) + 1;
        for (let asked = 0; asked < record; asked += 1) await plane.store.readCall(callIdOf(key));
        const answer = await plane.client.cancel(session, callIdOf(key)).catch(() => 'not there yet');
        return { key, answer, outcome: await calling };
      }),
    );
    for (const { key, answer, outcome } of pairs) {
      await expectOneEnding(key);
      const stored = (await plane.client.result(session, callIdOf(key))) as { outcome: Outcome };
      expect(stored.outcome).toStrictEqual(outcome);
      const starts = marksOf(plane, 'S', key).length;
      expect({ key, answer, starts, ...outcome }).toSatisfy(isTrueEnding);
    }
    const answers = pairs.map(({ answer, outcome }) => `${answer}/${outcome.kind}`);
    console.log(
      `${backend}: ${[...new Set(answers)].map((each) => `${each} ${answers.filter((one) => one === each).length}`).join(', ')}`,
    );
    expect(await plane.store.listCalls({ limit: 10 })).toStrictEqual([]);
  });

  it('that was taken up while the supervisor looks reaches the tool at the next round, not at the next renewal', async () => {
    const workerId = newWorkerId();
    const held = createHeldCalls(4);
    const stops: StopOrder[] = [];
    // The supervisor does not ask the store while no call is held.
    held.hold(await startElsewhere(plane, session, workerId), 0);
    const owned = await startElsewhere(plane, session, workerId);
    let rounds = 0;
    const looking: Store = {
      ...plane.store,
      lanes: plane.store.lanes,
      async recheckSessions(request) {
        rounds += 1;
        // At this moment the supervisor knows which lanes have held calls, and has not read the cancellations yet.
        if (rounds === 3) {
          held.hold(owned, 0);
          await plane.client.cancel(session, owned.callId);
        }
        return plane.store.recheckSessions(request);
      },
    };
    const settings = { workerId, pool: 'elsewhere', heartbeatMs: 60_000, leaseMs: 180_000, retentionMs: 60_000 };
    const supervision = supervise(
      looking,
      held.shared,
      settings,
      (order) => stops.push(order),
      () => undefined,
    );
    await eventually(() => rounds >= 8, { what: 'eight rounds' });
    await supervision.stop();
    expect(stops).toMatchObject([{ callId: owned.callId, why: 'cancelled' }]);
  });
});

/** A call in a pool of its own, claimed and started by a worker that is only a name. */
async function startElsewhere(
  plane: StagedPlane,
  session: SessionHandle,
  workerId: OwnedCall['workerId'],
): Promise<OwnedCall> {
  const { modules } = await plane.store.readCatalog();
  const scenario = modules.find(({ id }) => id === 'scenario')!;
  const moved = [
    ...modules.filter(({ id }) => id !== 'elsewhere'),
    {
      ...scenario,
      id: 'elsewhere',
      pool: 'elsewhere',
      tools: scenario.tools.map((tool) => ({
        ...tool,
        id: tool.id.replace('scenario.', 'elsewhere.') as typeof tool.id,
      })),
    },
  ];
  const { sequence, digest } = await plane.store.readCatalog();
  await plane.store.writeCatalog({ expectedSequence: sequence, digest: `${digest}-elsewhere`, modules: moved });
  await plane.client.catalog();
  await plane.client.call(session, 'elsewhere.write', runOnce(plane, 'elsewhere'), { waitMs: 0, deadlineMs: 60_000 });
  const { deliveries } = await plane.store.claimCalls({ lane: 0, pool: 'elsewhere', workerId, limit: 1, waitMs: 5000 });
  const { callId, pool, entryId, fence } = deliveries[0]!;
  const owned = { callId, pool, workerId, entryId, fence };
  expect(await plane.store.startCall({ ...owned, effect: 'unsafe', maxAttempts: 1 })).toMatchObject({
    kind: 'started',
  });
  return owned;
}
