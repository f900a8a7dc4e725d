import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/ports/store.ts';
import { openConnection, untilReady, type Connection } from '../../src/stores/redis/connection.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import {
  acceptMany,
  acceptOne,
  askAbout,
  askRequest,
  BOB,
  cancelRequest,
  claimOne,
  decideRequest,
  detail,
  encodedOutcome,
  holdOne,
  newGrant,
  newWaiter,
  openSession,
  ownedBy,
  reapRequest,
  settleRequest,
  startRequest,
  type TestSession,
} from '../contract/fixtures.ts';
import { storeTimePasses } from '../contract/observe.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

let server: RedisServer;
let connection: Connection;
beforeAll(async () => {
  server = await startRedis();
  connection = openConnection({ url: server.url, commandTimeoutMs: 10_000 }, 'commands');
  await untilReady(connection, 10_000);
});
afterAll(async () => {
  connection.disconnect();
  await server.stop();
});

let store: Store;
let session: TestSession;
beforeEach(async () => {
  await server.cli('FLUSHALL');
  store = await openRedisStore({ url: server.url });
  session = await openSession(store);
  return () => store.close();
});

type Step = () => Promise<unknown>;

async function grantTo(): Promise<ReturnType<typeof newGrant>> {
  const asked = await askAbout(store, await holdOne(store, session));
  const grant = newGrant(asked, { usesLeft: 3 });
  await store.decideApproval(decideRequest(asked, 'allow-always', { grant }));
  await store.settleCall(settleRequest(await claimOne(store, { lane: 0 })));
  return grant;
}

/** Each function brings the store to where the step can be made, and returns the step. */
const STEPS: Readonly<Record<string, () => Promise<Step>>> = {
  'settle of a call with waiters, that moves up what waits': async () => {
    await acceptOne(store, session, { waiter: newWaiter() });
    await acceptMany(store, session, 70);
    const delivery = await claimOne(store, { lane: 0 });
    return () => store.settleCall(settleRequest(delivery));
  },
  'start of a privileged call': async () => {
    const delivery = await holdOne(store, session);
    return () => store.startCall(startRequest(delivery, { intent: detail('rm') }));
  },
  question: async () => {
    const request = askRequest(await holdOne(store, session), { callback: true });
    return () => store.askApproval(request);
  },
  'vote that is not the last': async () => {
    const asked = await askAbout(store, await holdOne(store, session), { question: { quorum: 2 } });
    return () => store.decideApproval(decideRequest(asked));
  },
  'yes with other arguments': async () => {
    const asked = await askAbout(store, await holdOne(store, session), { callback: true });
    return () => store.decideApproval(decideRequest(asked, 'allow-once', { editedArguments: '{"n":1}' }));
  },
  'yes for always': async () => {
    const asked = await askAbout(store, await holdOne(store, session));
    return () => store.decideApproval(decideRequest(asked, 'allow-always', { grant: newGrant(asked) }));
  },
  no: async () => {
    const asked = await askAbout(store, await holdOne(store, session), { question: { quorum: 2 }, callback: true });
    await store.decideApproval(decideRequest(asked));
    return () => store.decideApproval(decideRequest(asked, 'deny', { by: BOB }));
  },
  'use of a grant': async () => {
    const { id } = await grantTo();
    const owned = ownedBy(await holdOne(store, session));
    return () => store.useGrant({ id, owned, audit: detail('used') });
  },
  'end of a grant': async () => {
    const { id } = await grantTo();
    return () => store.revokeGrant({ id, audit: detail('revoked') });
  },
  'cancellation of a call that waits in the backlog': async () => {
    await acceptMany(store, session, 64);
    const callId = await acceptOne(store, session);
    return () => store.cancelCall(cancelRequest(callId));
  },
  'cancellation of a parked call': async () => {
    const { callId } = await askAbout(store, await holdOne(store, session));
    return () => store.cancelCall(cancelRequest(callId));
  },
  resolution: async () => {
    const delivery = await holdOne(store, session);
    await store.settleCall(settleRequest(delivery, encodedOutcome('indeterminate')));
    return () => store.resolveCall({ callId: delivery.callId, resolution: 'ran', audit: detail('saw it') });
  },
  'reap of what is past its deadline': async () => {
    await askAbout(store, await holdOne(store, session), { timeoutMs: 1 });
    await acceptOne(store, session, { deadlineMs: 1 });
    await storeTimePasses(store, 5);
    return () => store.reapCalls(reapRequest(0, { pools: [] }));
  },
  'reap of a callback that was lost': async () => {
    const asked = await askAbout(store, await holdOne(store, session), { callback: true });
    await store.decideApproval(decideRequest(asked, 'deny'));
    const claim = { lane: 0, workerId: asked.workerId, claimId: randomId(), limit: 10, leaseMs: 1 };
    expect(await store.claimCallbacks(claim)).toHaveLength(1);
    await storeTimePasses(store, 5);
    return () => store.reapCalls(reapRequest(0, { pools: [] }));
  },
};

/** All keys with a digest of what they hold. */
async function snapshot(): Promise<Record<string, string>> {
  const keys = ((await connection.call('KEYS', '*')) as string[]).toSorted();
  const digests = (await connection.call('DEBUG', 'DIGEST-VALUE', ...keys)) as string[];
  return Object.fromEntries(keys.map((key, index) => [key, digests[index]!]));
}

describe('the audit comes first', () => {
  const JOURNAL = '{sallyport:0}:journal';

  it.each(Object.keys(STEPS))('%s: nothing is written when its record cannot be', async (name) => {
    const step = await STEPS[name]!();
    const before = Number(await server.cli('LLEN', JOURNAL));
    if (before > 0) await server.cli('RENAME', JOURNAL, 'aside');
    await server.cli('SET', JOURNAL, 'of another type');
    const untouched = await snapshot();
    await expect(step()).rejects.toThrow('WRONGTYPE');
    expect(await snapshot()).toStrictEqual(untouched);
    await server.cli('DEL', JOURNAL);
    if (before > 0) await server.cli('RENAME', 'aside', JOURNAL);
    await step();
    expect(Number(await server.cli('LLEN', JOURNAL))).toBeGreaterThan(before);
    expect(await store.auditState({ lane: 0 })).toMatchObject({ sequence: Number(await server.cli('LLEN', JOURNAL)) });
  });
});
