import { expect } from 'vitest';
import { PlaneError } from '../../../src/domain/errors/errors.ts';
import type { CallId } from '../../../src/domain/identity/ids.ts';
import type { Delivery } from '../../../src/domain/ports/call-requests.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { newWorkerId, randomId } from '../../../src/domain/identity/new-id.ts';
import {
  acceptRequest,
  askRequest,
  cancelRequest,
  decideRequest,
  newWaiter,
  openSession,
  ownedBy,
  settleRequest,
  startRequest,
  type TestSession,
} from '../../contract/fixtures.ts';
import { auditOf, drainReplies, recordOf, storeTimePasses } from '../../contract/observe.ts';
import { eventually } from '../../support/process.ts';

/**
 * What the caller, the worker and the approver of one round use. `lossy` is the store over a connection that loses answers, `sure`
 * over one that does not.
 */
interface Round {
  readonly lossy: Store;
  readonly sure: Store;
  readonly session: TestSession;
  readonly pool: string;
}

/** Repeats the same request until there is an answer, as every user of the ports does. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  return (
    await eventually(
      async () => {
        try {
          return { answer: await ask() };
        } catch (error) {
          if (error instanceof PlaneError && error.code === 'STORE_UNAVAILABLE') return undefined;
          throw error;
        }
      },
      { everyMs: 5, what: 'an answer of the store' },
    )
  ).answer;
}

/** The expected ending of a call of the round. */
interface Ending {
  readonly callId: CallId;
  readonly state: 'settled';
  readonly event: string;
  readonly starts: number;
  readonly waiter: ReturnType<typeof newWaiter>;
}

async function accept(round: Round): Promise<{ callId: CallId; waiter: ReturnType<typeof newWaiter> }> {
  const waiter = newWaiter();
  const request = acceptRequest(round.session, { key: randomId(), pool: round.pool, waiter });
  const answer = await insist(() => round.lossy.acceptCall(request));
  // `attached` if the first answer was lost and the request was repeated.
  expect(['accepted', 'attached']).toContain(answer.kind);
  expect(answer).toMatchObject({ callId: request.callId });
  return { callId: request.callId, waiter };
}

/** If the answer to a claim was lost, the call is held but no worker knows of it. It comes back when its lease runs out. */
async function claim(round: Round, callId: CallId): Promise<Delivery> {
  const { lossy, sure, pool, session } = round;
  const place = { lane: session.lane, pool, workerId: newWorkerId(), limit: 10 };
  const { deliveries } = await insist(() => lossy.claimCalls({ ...place, waitMs: 0 }));
  if (deliveries.length > 0) return only(deliveries, callId);
  return eventually(
    async () => {
      await storeTimePasses(sure, 2);
      const again = await insist(() => lossy.reclaimCalls({ ...place, leaseMs: 1 }));
      return again.deliveries.length === 0 ? undefined : only(again.deliveries, callId);
    },
    { everyMs: 5, what: 'the call to come back' },
  );
}

function only(deliveries: readonly Delivery[], callId: CallId): Delivery {
  expect(deliveries.map((delivery) => delivery.callId)).toEqual([callId]);
  return deliveries[0]!;
}

const start = async ({ lossy }: Round, delivery: Delivery): Promise<void> =>
  expect(await insist(() => lossy.startCall(startRequest(delivery)))).toEqual({ kind: 'started', starts: 1 });

const settle = async ({ lossy }: Round, delivery: Delivery): Promise<void> =>
  expect(await insist(() => lossy.settleCall(settleRequest(delivery)))).toBe('settled');

const renew = async ({ lossy }: Round, delivery: Delivery, expected: string): Promise<void> =>
  expect(await insist(() => lossy.renewCalls({ lane: delivery.lane, calls: [ownedBy(delivery)] }))).toEqual([expected]);

async function decide(round: Round, delivery: Delivery, decision: 'allow-once' | 'deny'): Promise<void> {
  const question = askRequest(delivery);
  expect(await insist(() => round.lossy.askApproval(question))).toMatchObject({ kind: 'asked' });
  const state = decision === 'deny' ? 'denied' : 'allowed';
  const request = decideRequest(question, decision);
  expect(await insist(() => round.lossy.decideApproval(request))).toEqual({ kind: 'decided', state });
}

async function cancel({ lossy }: Round, callId: CallId, expected: readonly string[]): Promise<void> {
  expect(expected).toContain(await insist(() => lossy.cancelCall(cancelRequest(callId))));
}

/** Calls that together use every command. Each returns how it has to end. */
const CALLS: Readonly<Record<string, (round: Round) => Promise<Omit<Ending, 'state'>>>> = {
  plain: async (round) => {
    const { callId, waiter } = await accept(round);
    const delivery = await claim(round, callId);
    await renew(round, delivery, 'renewed');
    await start(round, delivery);
    await renew(round, delivery, 'renewed');
    await settle(round, delivery);
    return { callId, waiter, event: 'call.settled', starts: 1 };
  },
  approved: async (round) => {
    const { callId, waiter } = await accept(round);
    await decide(round, await claim(round, callId), 'allow-once');
    const delivery = await claim(round, callId);
    await start(round, delivery);
    await settle(round, delivery);
    return { callId, waiter, event: 'call.settled', starts: 1 };
  },
  denied: async (round) => {
    const { callId, waiter } = await accept(round);
    await decide(round, await claim(round, callId), 'deny');
    return { callId, waiter, event: 'call.settled', starts: 0 };
  },
  'given back': async (round) => {
    const { callId, waiter } = await accept(round);
    const first = await claim(round, callId);
    const request = { ...ownedBy(first), handedBack: true };
    expect(['abandoned', 'fenced']).toContain(await insist(() => round.lossy.abandonCall(request)));
    const delivery = await claim(round, callId);
    await start(round, delivery);
    await settle(round, delivery);
    return { callId, waiter, event: 'call.settled', starts: 1 };
  },
  'cancelled in time': async (round) => {
    const { callId, waiter } = await accept(round);
    await cancel(round, callId, ['cancelled', 'settled']);
    return { callId, waiter, event: 'call.cancelled', starts: 0 };
  },
  'cancelled late': async (round) => {
    const { callId, waiter } = await accept(round);
    const delivery = await claim(round, callId);
    await start(round, delivery);
    await cancel(round, callId, ['cancelling']);
    await renew(round, delivery, 'cancel');
    await settle(round, delivery);
    return { callId, waiter, event: 'call.settled', starts: 1 };
  },
};

/** Checks that the call has one outcome, one reply and one record of its end in the audit, and that nothing of it is left to claim. */
async function expectEnding({ sure, session, pool }: Round, ending: Omit<Ending, 'state'>): Promise<void> {
  const { callId, waiter, event, starts } = ending;
  expect(await recordOf(sure, callId)).toMatchObject({ state: 'settled', starts, waiters: 1 });
  const replies = await drainReplies(sure, session.lane, waiter.callerId);
  expect(replies.map((item) => item.correlationId)).toEqual([waiter.correlationId]);
  const endings = (await auditOf(sure, callId)).filter((entry) => entry.event.startsWith('call.'));
  expect(endings.map((entry) => entry.event)).toEqual([event]);
  const place = { lane: session.lane, pool, workerId: newWorkerId(), limit: 10 };
  expect((await sure.claimCalls({ ...place, waitMs: 0 })).deliveries).toEqual([]);
  await storeTimePasses(sure, 2);
  expect((await sure.reclaimCalls({ ...place, leaseMs: 1 })).deliveries).toEqual([]);
}

/** Makes every kind of call once, one after the other, all in one session and each in a pool of its own. */
export async function runRound(stores: Pick<Round, 'lossy' | 'sure'>): Promise<void> {
  const session = await openSession(stores.sure);
  for (const [name, run] of Object.entries(CALLS)) {
    const round: Round = { ...stores, session, pool: `pool-${randomId()}` };
    try {
      await expectEnding(round, await run(round));
    } catch (error) {
      throw new Error(`the call that is ${name}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
}
