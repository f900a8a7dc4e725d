import fc from 'fast-check';
import { expect } from 'vitest';
import type { CallerId, CallId } from '../../src/domain/identity/ids.ts';
import { EFFECTS, type Effect } from '../../src/domain/tool/tool.ts';
import type { ClaimAnswer, Delivery, RecoveredCall } from '../../src/domain/ports/call-requests.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { callIdFor, newWorkerId, randomId } from '../../src/domain/identity/new-id.ts';
import {
  ALICE,
  acceptRequest,
  askRequest,
  BOB,
  cancelRequest,
  decideRequest,
  encodedOutcome,
  ownedBy,
  settleRequest,
  startRequest,
  type TestSession,
} from './fixtures.ts';
import * as model from './model.ts';
import type { Model, ModelCall } from './model.ts';
import { storeTimePasses } from './observe.ts';

/** The store under test, and the deliveries it has made, which workers would remember. */
export interface Real {
  readonly handles: readonly [Store, Store];
  turn: number;
  readonly session: TestSession;
  readonly pool: string;
  readonly callerId: CallerId;
  readonly deliveries: Map<string, Delivery[]>;
}

type Command = fc.AsyncCommand<Model, Real>;

/** Connections take turns, so that no step can rely on what one connection remembers. */
function storeOf(real: Real): Store {
  real.turn += 1;
  return real.handles[real.turn % 2]!;
}

const KEYS = ['a', 'b', 'c'] as const;
type Key = (typeof KEYS)[number];
const effectOf = (key: Key): Effect => EFFECTS[KEYS.indexOf(key)]!;

const OUTCOMES = ['ok', 'failed', 'stale'] as const;
export const encodedLabel = (label: (typeof OUTCOMES)[number]): Uint8Array => encodedOutcome(label);

function acceptCommand(key: Key, body: string): Command {
  return {
    check: () => true,
    toString: () => `accept ${key} with body ${body}`,
    run: async (m, real) => {
      const waiter = randomId();
      const args = JSON.stringify({ body });
      const baseId = callIdFor(real.session.id, key)!;
      const before = m.current.get(key);
      const states = before === undefined ? [] : model.visibleStates(before);
      const expected = model.accept(m, { key, baseId, body, effect: effectOf(key), waiter });
      const request = acceptRequest(real.session, {
        key,
        arguments: args,
        pool: real.pool,
        waiter: { callerId: real.callerId, correlationId: waiter, events: false },
      });
      const answer = await storeOf(real).acceptCall(request);
      expect(answer).toMatchObject(expected);
      if (answer.kind === 'attached') expect(states).toContain(answer.state);
    },
  };
}

/** A step of a worker. `age` selects the worker by its delivery: 0 is the latest one, 1 the one before. */
function asWorker(
  name: string,
  key: Key,
  age: number,
  applies: (call: ModelCall, delivery: number) => boolean,
  act: (step: { m: Model; call: ModelCall; number: number; delivery: Delivery; store: Store }) => Promise<void>,
): Command {
  const numberOf = (m: Model) => (m.current.get(key)?.deliveries ?? 0) - age;
  return {
    check: (m) => numberOf(m) >= 1 && applies(m.current.get(key)!, numberOf(m)),
    toString: () => `${name} ${key} by worker ${age === 0 ? 'latest' : `-${age}`}`,
    run: async (m, real) => {
      const call = m.current.get(key)!;
      const number = numberOf(m);
      const delivery = real.deliveries.get(call.callId)![number - 1]!;
      await act({ m, call, number, delivery, store: storeOf(real) });
    },
  };
}

const always = (): boolean => true;
// The model does not cover a worker that parks or gives back a call that it has started.
const notRunning = (call: ModelCall, delivery: number): boolean => call.state !== 'running' || call.holder !== delivery;

const startCommand = (key: Key, age: number): Command =>
  asWorker('start', key, age, always, async ({ call, number, delivery, store }) => {
    const allowed = model.startAnswers(call, number);
    const request = startRequest(delivery, { effect: call.effect, maxAttempts: model.MAX_ATTEMPTS });
    const answer = await store.startCall(request);
    const said = 'starts' in answer ? `${answer.kind} ${answer.starts}` : answer.kind;
    expect(allowed).toContain(said);
    model.applyStart(call, number, said);
  });

const settleCommand = (key: Key, age: number, label: (typeof OUTCOMES)[number]): Command =>
  asWorker(`settle ${label}`, key, age, always, async ({ m, call, number, delivery, store }) => {
    const allowed = model.settleAnswers(call, number, label);
    const releaseKey = label === model.RELEASING_OUTCOME;
    expect(allowed).toContain(await store.settleCall(settleRequest(delivery, encodedLabel(label), { releaseKey })));
    model.applySettle(m, call, number, label);
  });

const renewCommand = (key: Key, age: number): Command =>
  asWorker('renew', key, age, always, async ({ call, number, delivery, store }) => {
    const answers = await store.renewCalls({ lane: delivery.lane, calls: [ownedBy(delivery)] });
    expect(answers).toHaveLength(1);
    expect(model.renewAnswers(call, number)).toContain(answers[0]);
  });

const askCommand = (key: Key, age: number, quorum: 1 | 2): Command =>
  asWorker(`ask for ${quorum}`, key, age, notRunning, async ({ m, call, number, delivery, store }) => {
    const repeated = m.asked.get(`${call.callId} ${number}`);
    const request = repeated ?? askRequest(delivery, { question: { quorum } });
    const { kind } = await store.askApproval(request);
    // The call was marked as cancelled while it ran: no question is asked, and its holder keeps it.
    if (call.cancelRequested && call.holder === number) return expect(kind).toBe('cancelled');
    const { id } = request.question;
    const wasAsked = call.approvals.some((approval) => approval.id === id);
    expect(kind).toBe(wasAsked || call.holder === number ? 'asked' : 'fenced');
    m.asked.set(`${call.callId} ${number}`, request);
    model.applyAsk(call, number, id, request.question.quorum);
  });

const abandonCommand = (key: Key, age: number): Command =>
  asWorker('abandon', key, age, notRunning, async ({ call, number, delivery, store }) => {
    const answer = await store.abandonCall({ ...ownedBy(delivery), handedBack: false });
    expect(model.putAwayAnswers(call, number, 'abandoned')).toContain(answer);
    model.applyPutAway(call, number, 'abandoned');
  });

function onCall(name: string, key: Key, act: (call: ModelCall, store: Store) => Promise<void>): Command {
  return {
    check: (m) => m.current.has(key),
    toString: () => `${name} ${key}`,
    run: (m, real) => act(m.current.get(key)!, storeOf(real)),
  };
}

const PRINCIPALS = { alice: ALICE, bob: BOB } as const;

/** Decides the latest question (age 0) or the one before it (age 1). */
const decideCommand = (
  key: Key,
  who: keyof typeof PRINCIPALS,
  decision: model.ModelDecision,
  approvalAge: number,
): Command => ({
  check: (m) => (m.current.get(key)?.approvals.length ?? 0) > approvalAge,
  toString: () => `${who} decides ${decision} on ${key}, question ${approvalAge === 0 ? 'latest' : `-${approvalAge}`}`,
  run: async (m, real) => {
    const call = m.current.get(key)!;
    const approval = call.approvals.at(-1 - approvalAge)!;
    const question = [...m.asked.values()].find((request) => request.question.id === approval.id)!;
    const denied = encodedOutcome('denied');
    const request = decideRequest(question, decision, { by: PRINCIPALS[who], denied, deniedMayHaveRun: denied });
    const expected = model.decide(call, approval, who, decision);
    expect(await storeOf(real).decideApproval(request)).toEqual(expected);
  },
});

const cancelCommand = (key: Key): Command =>
  onCall('cancel', key, async (call, store) => {
    const answer = await store.cancelCall(cancelRequest(call.callId as CallId));
    expect(model.cancelAnswers(call)).toContain(answer);
    model.applyCancel(call, answer);
  });

function claimCommand(how: 'claim' | 'reclaim'): Command {
  return {
    check: (m) => (how === 'claim' ? model.claimable(m) : model.reclaimable(m)).length > 0,
    toString: () => how,
    run: async (m, real) => {
      const expected = how === 'claim' ? model.claimable(m) : model.reclaimable(m);
      const { deliveries } = await (how === 'claim' ? claimAll(real) : reclaimAll(real));
      expect(deliveries.map((delivery) => delivery.callId).sort()).toEqual(expected.map((call) => call.callId).sort());
      for (const delivery of deliveries) {
        const call = m.calls.get(delivery.callId)!;
        const earlier = real.deliveries.get(call.callId) ?? [];
        expect(delivery.fence).toBeGreaterThan(earlier.at(-1)?.fence ?? Number.NEGATIVE_INFINITY);
        expectRecovery(delivery.recovered, call);
        real.deliveries.set(call.callId, [...earlier, delivery]);
        model.deliver(call);
      }
    },
  };
}

function claimAll(real: Real): Promise<ClaimAnswer> {
  const request = { lane: real.session.lane, pool: real.pool, workerId: newWorkerId(), limit: 100, waitMs: 0 };
  return storeOf(real).claimCalls(request);
}

async function reclaimAll(real: Real): Promise<ClaimAnswer> {
  await storeTimePasses(real.handles[0], 1);
  const request = { lane: real.session.lane, pool: real.pool, workerId: newWorkerId(), limit: 100, leaseMs: 1 };
  return storeOf(real).reclaimCalls(request);
}

export function expectRecovery(recovered: RecoveredCall | undefined, before: ModelCall): void {
  if (before.deliveries === 0) {
    expect(recovered).toBeUndefined();
    return;
  }
  const { starts, cancelRequested } = before;
  expect(recovered).toMatchObject({ starts, cancelRequested });
  if (starts === 0) expect(recovered?.wasRunning).toBe(false);
  if (before.state === 'running') expect(recovered).toMatchObject({ wasRunning: true, effect: before.effect });
}

// Commands that end a call are rare, and most of them release its key, so that sequences become long enough for every combination.
const key = fc.constantFrom(...KEYS);
const age = fc.constantFrom(0, 0, 0, 0, 1, 2);
const body = fc.constantFrom('one', 'one', 'one', 'one', 'two');
const outcome = fc.constantFrom<(typeof OUTCOMES)[number]>('stale', 'stale', 'ok', 'failed');
const quorum = fc.constantFrom<1 | 2>(1, 1, 1, 2);
const who = fc.constantFrom<keyof typeof PRINCIPALS>('alice', 'bob');
const decision = fc.constantFrom<model.ModelDecision>('allow-once', 'allow-once', 'allow-once', 'deny');
const approvalAge = fc.constantFrom(0, 0, 0, 1);
const often = <T>(times: number, value: T): T[] => Array.from({ length: times }, () => value);

export const COMMANDS: fc.Arbitrary<Command>[] = [
  ...often(
    3,
    fc.tuple(key, body).map((values) => acceptCommand(...values)),
  ),
  ...often(5, fc.constant(claimCommand('claim'))),
  ...often(4, fc.constant(claimCommand('reclaim'))),
  ...often(
    4,
    fc.tuple(key, age).map((values) => startCommand(...values)),
  ),
  ...often(
    1,
    fc.tuple(key, age, outcome).map((values) => settleCommand(...values)),
  ),
  ...often(
    1,
    fc.tuple(key, age).map((values) => renewCommand(...values)),
  ),
  ...often(
    3,
    fc.tuple(key, age, quorum).map((values) => askCommand(...values)),
  ),
  ...often(
    4,
    fc.tuple(key, who, decision, approvalAge).map((values) => decideCommand(...values)),
  ),
  ...often(
    2,
    fc.tuple(key, age).map((values) => abandonCommand(...values)),
  ),
  ...often(1, key.map(cancelCommand)),
];
