import { expect } from 'vitest';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import type { ClaimAnswer } from '../../../src/domain/ports/call-requests.ts';
import { callIdFor, randomId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptRequest,
  ALICE,
  askRequest,
  cancelRequest,
  decideRequest,
  encodedOutcome,
  ownedBy,
  reapRequest,
  settleRequest,
  startRequest,
} from '../../contract/fixtures.ts';
import { encodedLabel, expectRecovery } from '../../contract/model-commands.ts';
import * as model from '../../contract/model.ts';
import type { ModelCall, ModelDecision } from '../../contract/model.ts';
import {
  EFFECT_OF,
  isOwned,
  KEYS,
  WORKERS,
  type Key,
  type Remembered,
  type Worker,
  type World,
} from './interleaved-world.ts';

/** One step of a caller, a worker or an approver. It sends a request to the store, compares the answer with the model's, and updates the model. */
export interface Action {
  readonly name: string;
  applies(world: World): boolean;
  run(world: World): Promise<void>;
}

const MAX_WAITERS = 2;

const storeOf = (world: World) => world.lapsing.store;
const callOf = (world: World, key: Key): ModelCall | undefined => world.model.current.get(key);

function acceptAction(key: Key): Action {
  return {
    name: `accept ${key}`,
    applies: (world) => (callOf(world, key)?.waiters.length ?? 0) < MAX_WAITERS,
    run: async (world) => {
      const { session, pool, callerId } = world.real;
      const waiter = randomId();
      const request = acceptRequest(session, {
        key,
        pool,
        waiter: { callerId, correlationId: waiter, events: false },
      });
      const answer = await storeOf(world).acceptCall(request);
      if (world.revoked) return expect(answer).toMatchObject({ kind: 'unauthenticated' });
      const baseId = callIdFor(session.id, key)!;
      const expected = model.accept(world.model, { key, baseId, body: '', effect: EFFECT_OF[key], waiter });
      expect(answer).toMatchObject(expected);
      if (expected.kind === 'accepted') world.queue.push(expected.callId);
    },
  };
}

function take(world: World, worker: Worker, { deliveries }: ClaimAnswer): void {
  for (const delivery of deliveries) {
    const call = world.model.calls.get(delivery.callId)!;
    const key = KEYS.find((each) => callOf(world, each) === call)!;
    const earlier = world.real.deliveries.get(call.callId) ?? [];
    expect(delivery.fence, 'a new fence').toBeGreaterThan(earlier.at(-1)?.fence ?? Number.NEGATIVE_INFINITY);
    expectRecovery(delivery.recovered, call);
    world.real.deliveries.set(call.callId, [...earlier, delivery]);
    model.deliver(call);
    const before = world.remembered.get(`${worker} ${key}`);
    if (before !== undefined) world.remembered.set(`${worker}, before, ${key}`, before);
    world.remembered.set(`${worker} ${key}`, { delivery, number: call.deliveries });
    world.queue = world.queue.filter((callId) => callId !== call.callId);
    world.lapsed.delete(call.callId);
  }
}

function claimAction(worker: Worker): Action {
  return {
    name: `claim by ${worker}`,
    applies: (world) => world.queue.length > 0,
    run: async (world) => {
      const { session, pool } = world.real;
      const workerId = world.workerIds[worker];
      const answer = await storeOf(world).claimCalls({ lane: session.lane, pool, workerId, limit: 1, waitMs: 0 });
      // The store may put a call that was given back anywhere in the queue, so any queued call may be delivered.
      expect(answer.deliveries).toHaveLength(1);
      expect(world.queue).toContain(answer.deliveries[0]!.callId);
      take(world, worker, answer);
    },
  };
}

function reclaimAction(worker: Worker): Action {
  return {
    name: `reclaim by ${worker}`,
    // Applies also when no lease has run out: then the reclaim must take nothing.
    applies: (world) => [...world.model.calls.values()].some(isOwned),
    run: async (world) => {
      const { session, pool } = world.real;
      const workerId = world.workerIds[worker];
      const answer = await storeOf(world).reclaimCalls({
        lane: session.lane,
        pool,
        workerId,
        limit: 100,
        leaseMs: world.lapsing.leaseMs,
      });
      const taken = answer.deliveries.map((delivery) => delivery.callId as string);
      const due = [...world.lapsed].filter(([callId, sure]) => sure === 'yes' || taken.includes(callId));
      expect(taken.sort()).toEqual(due.map(([callId]) => callId).sort());
      take(world, worker, answer);
    },
  };
}

const lapseAction: Action = {
  name: 'leases run out',
  applies: (world) => [...world.model.calls.values()].some((call) => isOwned(call) && !world.lapsed.has(call.callId)),
  run: async (world) => {
    const owned = [...world.model.calls.values()].filter(isOwned);
    await world.lapsing.lapse(owned.map((call) => world.real.deliveries.get(call.callId)!.at(-1)!));
    for (const call of owned) world.lapsed.set(call.callId, 'yes');
  },
};

type WorkerStep = (world: World, call: ModelCall, known: Remembered) => Promise<void>;

function workerAction(
  name: string,
  who: Worker | `${Worker}, before,`,
  key: Key,
  step: WorkerStep,
  applies: (call: ModelCall, number: number) => boolean = () => true,
): Action {
  const knownOf = (world: World) => world.remembered.get(`${who} ${key}`);
  return {
    name: `${name} ${key} by ${who === 1 || who === 2 ? who : `the lease before of ${who[0]}`}`,
    applies: (world) => knownOf(world) !== undefined && applies(callOf(world, key)!, knownOf(world)!.number),
    run: (world) => step(world, callOf(world, key)!, knownOf(world)!),
  };
}

const renew: WorkerStep = async (world, call, { delivery, number }) => {
  const [answer] = await storeOf(world).renewCalls({ lane: delivery.lane, calls: [ownedBy(delivery)] });
  expect(model.renewAnswers(call, number)).toContain(answer);
  if (call.holder === number) world.lapsed.delete(call.callId);
};

const start: WorkerStep = async (world, call, { delivery, number }) => {
  const repeated = call.markedBy === number;
  let allowed = model.startAnswers(call, number);
  // After a revocation nothing new starts. A delivery that was started before may still get the answer `started` again.
  if (world.revoked && call.holder === number) {
    allowed = [...allowed.filter((answer) => repeated || !answer.startsWith('started')), 'session-ended'];
  }
  const answer = await storeOf(world).startCall(
    startRequest(delivery, { effect: call.effect, maxAttempts: model.MAX_ATTEMPTS }),
  );
  const said = 'starts' in answer ? `${answer.kind} ${answer.starts}` : answer.kind;
  expect(allowed).toContain(said);
  model.applyStart(call, number, said);
  if (world.lapsed.has(call.callId) && said.startsWith('started')) world.lapsed.set(call.callId, 'maybe');
};

const settle: WorkerStep = async (world, call, { delivery, number }) => {
  const allowed = model.settleAnswers(call, number, 'ok');
  expect(allowed).toContain(await storeOf(world).settleCall(settleRequest(delivery, encodedLabel('ok'))));
  model.applySettle(world.model, call, number, 'ok');
};

const ask: WorkerStep = async (world, call, { delivery, number }) => {
  const place = `${call.callId} ${number}`;
  const request = world.model.asked.get(place) ?? askRequest(delivery);
  const { kind } = await storeOf(world).askApproval(request);
  const { id } = request.question;
  const isRepeated = call.approvals.some((approval) => approval.id === id);
  if (call.holder === number && call.cancelRequested) return expect(kind).toBe('cancelled');
  if (call.holder === number && world.revoked) return expect(kind).toBe('session-ended');
  expect(kind).toBe(isRepeated || call.holder === number ? 'asked' : 'fenced');
  if (kind === 'asked') world.model.asked.set(place, request);
  model.applyAsk(call, number, id, 1);
};

const abandon: WorkerStep = async (world, call, { delivery, number }) => {
  const owned = call.holder === number;
  const answer = await storeOf(world).abandonCall({ ...ownedBy(delivery), handedBack: false });
  expect(model.putAwayAnswers(call, number, 'abandoned')).toContain(answer);
  model.applyPutAway(call, number, 'abandoned');
  if (owned) world.queue.push(call.callId);
};

function decideAction(key: Key, decision: ModelDecision): Action {
  return {
    name: `decide ${decision} on ${key}`,
    applies: (world) => (callOf(world, key)?.approvals.length ?? 0) > 0,
    run: async (world) => {
      const call = callOf(world, key)!;
      const approval = call.approvals.at(-1)!;
      const question = [...world.model.asked.values()].find((request) => request.question.id === approval.id)!;
      const denied = encodedOutcome('denied');
      const request = decideRequest(question, decision, {
        by: ALICE,
        denied,
        deniedMayHaveRun: denied,
      });
      const answer = await storeOf(world).decideApproval(request);
      if (world.revoked && approval.state === 'pending') {
        return expect(answer).toEqual({ kind: 'already-decided', state: 'cancelled' });
      }
      const wasParked = call.state === 'parked';
      expect(answer).toEqual(model.decide(call, approval, 'alice', decision));
      if (wasParked && call.state === 'queued') world.queue.push(call.callId);
    },
  };
}

function cancelAction(key: Key): Action {
  return {
    name: `cancel ${key}`,
    applies: (world) => callOf(world, key) !== undefined,
    run: async (world) => {
      const call = callOf(world, key)!;
      const answer = await storeOf(world).cancelCall(cancelRequest(call.callId as CallId));
      expect(model.cancelAnswers(call)).toContain(answer);
      model.applyCancel(call, answer);
    },
  };
}

const revokeAction: Action = {
  name: 'revoke the session',
  applies: (world) => !world.revoked && world.model.calls.size > 0,
  run: async (world) => {
    expect(await storeOf(world).revokeSession({ session: world.real.session.id })).toBe('revoked');
    world.revoked = true;
  },
};

/** No call is past its deadline here, so only calls that were parked when their session ended are due. */
const reapAction: Action = {
  name: 'reap',
  applies: (world) => world.model.calls.size > 0,
  run: async (world) => {
    const { session, pool } = world.real;
    await storeOf(world).reapCalls(reapRequest(session.lane, { pools: [pool], limit: 100_000 }));
    if (!world.revoked) return;
    for (const call of world.model.calls.values()) if (call.state === 'parked') model.reapParked(call);
  },
};

// The model does not cover a running call that is asked about or given back.
const isNotRunning = (call: ModelCall, number: number): boolean => call.state !== 'running' || call.holder !== number;

const ofWorkers = WORKERS.flatMap((worker) =>
  KEYS.flatMap((key) => [
    workerAction('renew', worker, key, renew),
    workerAction('start', worker, key, start),
    workerAction('settle', worker, key, settle),
    workerAction('ask about', worker, key, ask, isNotRunning),
    workerAction('requeue', worker, key, abandon, isNotRunning),
    workerAction('renew', `${worker}, before,`, key, renew),
    workerAction('start', `${worker}, before,`, key, start),
    workerAction('settle', `${worker}, before,`, key, settle),
  ]),
);

const all: readonly Action[] = [
  ...KEYS.map(acceptAction),
  ...WORKERS.map(claimAction),
  ...WORKERS.map(reclaimAction),
  lapseAction,
  ...ofWorkers,
  ...KEYS.flatMap((key) => [decideAction(key, 'allow-once'), decideAction(key, 'deny'), cancelAction(key)]),
  revokeAction,
  reapAction,
];

/** Removes calls that moved on: they are in no queue and have no lease. */
function tidy(world: World): void {
  const { calls } = world.model;
  world.queue = world.queue.filter((callId) => calls.get(callId)!.state === 'queued');
  for (const callId of world.lapsed.keys()) if (!isOwned(calls.get(callId)!)) world.lapsed.delete(callId);
}

export const ACTIONS: ReadonlyMap<string, Action> = new Map(
  all.map((action) => [
    action.name,
    {
      ...action,
      run: async (world: World) => {
        await action.run(world);
        tidy(world);
      },
    },
  ]),
);
