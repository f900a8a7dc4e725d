import { expect } from 'vitest';
import type { LayerOptions, LayerResult } from '../../../chaos/layers/layer.ts';
import type { CallAnswer, SessionHandle } from '../../../src/exports/client.ts';
import { callIdFor } from '../../../src/domain/identity/new-id.ts';
import { killGateways } from './crash-gateways.ts';
import {
  approveUntil,
  CLASSES,
  newCall,
  placesOf,
  stageCrashPlane,
  type CrashPlane,
  type EffectClass,
  type Point,
  type Staged,
} from './crash-plane.ts';
import { expectRules, type MadeCall } from './crash-rules.ts';
import { Tally } from './tally.ts';

const CALL = { waitMs: 100_000, deadlineMs: 110_000 };
/** Long enough, with a lease of one second, that the lease is renewed during the run. */
const LONG_RUN_MS = 800;
const CALLS_PER_CASE = 2;
const HITS = [1, 2];
/** The cases that `npm test` tries. The other cases of `npm test` are in test/plane/crash-points.test.ts. */
const SHORT: Readonly<Record<string, readonly EffectClass[]>> = {
  'before askApproval': ['approval'],
  'after askApproval': ['approval'],
  'after startCall': ['approval'],
  'before settleCall': ['approval', 'read'],
  'after settleCall': ['approval'],
};

/**
 * Kills a process, or the store, before and after each request that the process makes to the store. The places are not listed but
 * traced: a run without a death reports them, for every class of effect. The expected results follow from rules, see `expectRules`.
 */
export async function run(options: LayerOptions): Promise<LayerResult> {
  const tally = new Tally(options);
  const plane = await stageCrashPlane(options.store);
  try {
    const survivor = await plane.takeWorker();
    const session = await plane.openSession();
    for (const effect of CLASSES) {
      const scene: Scene = { plane, survivor, session, effect };
      await killWorkers(tally, scene, options);
      await killCallers(tally, scene, options);
    }
  } finally {
    await plane.stop();
  }
  await killGateways(tally, options);
  return tally.result();
}

interface Scene {
  readonly plane: CrashPlane;
  /** Takes no call until another process has died. */
  readonly survivor: Staged;
  readonly session: SessionHandle;
  readonly effect: EffectClass;
}

function makeCall(scene: Scene): MadeCall {
  const { plane, session, effect } = scene;
  const { key, tool, args } = newCall(plane, effect, effect === 'read' ? LONG_RUN_MS : 0);
  return {
    callId: callIdFor(session.id, key)!,
    effect,
    session,
    answering: plane.client.call(session, tool, args, { ...CALL, key }),
  };
}

async function killWorkers(tally: Tally, scene: Scene, options: LayerOptions): Promise<void> {
  const { store, short } = options;
  const places = short
    ? Object.keys(SHORT).filter((place) => SHORT[place]!.includes(scene.effect))
    : placesOf(await workThrough(scene, undefined));
  options.log(`crash-points: a worker with a tool that is ${scene.effect}: ${places.join(', ')}`);
  // The embedded store belongs to the test process itself, so it cannot be killed.
  const victims = store === 'redis' && !short ? (['self', 'store'] as const) : (['self'] as const);
  for (const victim of victims) {
    for (const place of places) {
      for (const hit of short ? [1] : HITS) {
        const title = `${victim === 'self' ? 'a worker' : 'Redis'} dies ${place} (${hit}), the tool is ${scene.effect}`;
        await tally.attempt(title, async () => void (await workThrough(scene, { place, hit, victim })));
      }
    }
  }
}

/** Makes two calls, one after the other, with a worker that may die, and then with the survivor. Returns the worker's trace. */
async function workThrough(scene: Scene, point: Point | undefined): Promise<string[]> {
  const { plane, survivor, effect } = scene;
  const worker = await plane.takeWorker();
  worker.process.send({ kind: 'go', ...(point === undefined ? {} : { point }) });
  const calls: MadeCall[] = [];
  const made = (async () => {
    for (let count = 0; count < CALLS_PER_CASE; count += 1) {
      calls.push(makeCall(scene));
      await calls.at(-1)!.answering;
    }
  })();
  const approving = effect === 'approval' ? approveUntil(plane, made) : Promise.resolve();
  const helping = helpAfterDeath(worker, survivor, made);
  await Promise.all([made, approving]);
  const died = await helping;
  const trace = worker.trace();
  const who = died ? 'worker' : point?.victim === 'store' ? 'store' : 'nobody';
  for (const call of calls) await expectRules(plane, call, trace, who);
  if (!died) worker.process.kill('SIGKILL');
  const isOver = await plane.store.queueState();
  expect(
    isOver.filter((queue) => queue.queued + queue.leased > 0),
    'calls left in a queue',
  ).toEqual([]);
  return trace;
}

/** Once the worker is dead, the survivor works until the calls are answered. Resolves with whether the worker died. */
async function helpAfterDeath(worker: Staged, survivor: Staged, made: Promise<void>): Promise<boolean> {
  const first = await Promise.race([
    worker.process.exited.then(() => 'died' as const),
    made.then(() => 'made' as const),
  ]);
  if (first === 'made') {
    // The worker may be about to die in a step after the last answer.
    return !(await halt(worker));
  }
  survivor.process.send({ kind: 'go' });
  await made;
  await halt(survivor);
  return true;
}

/** Makes a process take no more calls. False if it died first. */
async function halt(staged: Staged): Promise<boolean> {
  const halted = staged.next('halted');
  if (staged.process.exit === undefined) staged.process.send({ kind: 'halt' });
  return (await halted) !== undefined;
}

async function killCallers(tally: Tally, scene: Scene, options: LayerOptions): Promise<void> {
  const { short } = options;
  const { survivor, effect } = scene;
  if (short && effect !== 'unsafe') return;
  survivor.process.send({ kind: 'go' });
  const places = short ? ['before acceptCall', 'after acceptCall'] : placesOf(await callThrough(scene, undefined));
  options.log(`crash-points: a caller of a tool that is ${effect}: ${places.join(', ')}`);
  for (const place of places) {
    await tally.attempt(`a caller dies ${place}, the tool is ${effect}`, async () => {
      await callThrough(scene, { place, hit: 1, victim: 'self' });
    });
  }
  await halt(survivor);
}

/** Makes a call with a caller that may die, and repeats it with another caller under the same key: it is one call. */
async function callThrough(scene: Scene, point: Point | undefined): Promise<string[]> {
  const { plane, session, effect } = scene;
  const caller = await plane.startCaller();
  const { key, tool, args } = newCall(plane, effect, 0);
  const more = { ...CALL, key };
  const answered = caller.next('answer') as Promise<{ answer: CallAnswer } | undefined>;
  caller.process.send({ kind: 'call', session, tool, args, more, ...(point === undefined ? {} : { point }) });
  const approving = effect === 'approval' ? approveUntil(plane, answered) : Promise.resolve();
  const first = await answered;
  const trace = caller.trace();
  caller.process.kill('SIGKILL');
  const answering = plane.client.call(session, tool, args, more);
  await Promise.all([approving, effect === 'approval' ? approveUntil(plane, answering) : answering]);
  const call = { callId: callIdFor(session.id, key)!, effect, session, answering };
  await expectRules(plane, call, [], 'nobody');
  const starts = plane.effects().filter((line) => line.includes(` ${key} `));
  expect(starts, 'starts of the tool').toHaveLength(1);
  if (point === undefined) expect(first?.answer).toMatchObject({ kind: 'settled', outcome: { kind: 'ok' } });
  return trace;
}
