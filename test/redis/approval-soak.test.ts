import { expect, it } from 'vitest';
import type { AskRequest, DecideAnswer } from '../../src/domain/ports/approval-store.ts';
import type { Delivery } from '../../src/domain/ports/call-requests.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import {
  acceptMany,
  askAbout,
  BOB,
  claimMany,
  decideRequest,
  openSession,
  settleRequest,
  type TestSession,
} from '../contract/fixtures.ts';
import { readWholeAudit } from '../contract/observe.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis } from '../support/redis-server.ts';

/** `npm run soak:approvals` makes more calls, with workers and callers: test/plane/approval-soak.test.ts. */
const CALLS = 150;
const AT_ONCE = 25;

interface Parked {
  readonly asked: AskRequest;
  readonly envelope: Uint8Array;
}

/** Parks calls that all have different arguments, so that a mix-up of two calls is noticed. */
async function parkMany(store: Store, session: TestSession): Promise<Parked[]> {
  const parked: Parked[] = [];
  while (parked.length < CALLS) {
    const [from, count] = [parked.length, Math.min(AT_ONCE, CALLS - parked.length)];
    for (let index = 0; index < count; index += 1) {
      await acceptMany(store, session, 1, { arguments: `{"number":${from + index}}` });
    }
    const deliveries = await claimMany(store, { lane: session.lane });
    const asked = await Promise.all(deliveries.map((delivery) => askAbout(store, delivery)));
    parked.push(...deliveries.map(({ envelope }, index) => ({ asked: asked[index]!, envelope })));
  }
  return parked;
}

/** Lets two approvers decide differently at the same moment, over two connections. */
function race(stores: readonly [Store, Store], { asked }: Parked): Promise<[DecideAnswer, DecideAnswer]> {
  const [one, other] = stores;
  return Promise.all([
    one.decideApproval(decideRequest(asked, 'allow-once')),
    other.decideApproval(decideRequest(asked, 'deny', { by: BOB })),
  ]);
}

async function runAll(store: Store, session: TestSession): Promise<Delivery[]> {
  const ran: Delivery[] = [];
  for (;;) {
    const deliveries = await claimMany(store, { lane: session.lane });
    if (deliveries.length === 0) return ran;
    const settled = await Promise.all(deliveries.map((delivery) => store.settleCall(settleRequest(delivery))));
    expect(new Set(settled)).toEqual(new Set(['settled']));
    ran.push(...deliveries);
  }
}

it(`${CALLS} parked calls survive kill -9 of Redis: one decision each, and what was allowed runs once, as it was asked about`, async () => {
  const server = await startRedis({ appendfsync: 'always' });
  const open = () => openRedisStore({ url: server.url, patienceMs: 30_000 });
  const stores: readonly [Store, Store] = [await open(), await open()];
  const [store] = stores;
  const session = await openSession(store);
  const parked = await parkMany(store, session);
  expect(await store.queueState()).toMatchObject([{ queued: 0, leased: 0 }]);
  await server.kill('SIGKILL');
  await server.restart();
  expect(await store.matchApprovals({ prefix: '', limit: 10_000 })).toHaveLength(CALLS);

  const answers: [DecideAnswer, DecideAnswer][] = [];
  for (let at = 0; at < CALLS; at += AT_ONCE) {
    const racing = Promise.all(parked.slice(at, at + AT_ONCE).map((each) => race(stores, each)));
    // Redis is killed once in the middle, while decisions are under way.
    if (at === CALLS / 2) {
      await server.kill('SIGKILL');
      await server.restart();
    }
    answers.push(...(await racing));
  }
  const kinds = answers.map(([yes, no]) => [yes.kind, no.kind].sort().join(' '));
  expect(new Set(kinds)).toEqual(new Set(['already-decided decided']));
  const allowed = parked.filter((_, index) => answers[index]![0].kind === 'decided');

  await server.kill('SIGKILL');
  await server.restart();
  const ran = await runAll(store, session);
  const envelopes = new Map(ran.map(({ callId, envelope }) => [callId, Buffer.from(envelope).toString('hex')]));
  expect(ran).toHaveLength(allowed.length);
  expect(envelopes.size).toBe(allowed.length);
  for (const { asked, envelope } of allowed) {
    expect(envelopes.get(asked.callId)).toBe(Buffer.from(envelope).toString('hex'));
  }
  expect(await store.matchApprovals({ prefix: '', limit: 10 })).toEqual([]);
  expect(await store.listCalls({ limit: 10 })).toEqual([]);
  const events = (await readWholeAudit(store, session.lane)).map(({ event }) => event);
  for (const event of ['approval.requested', 'approval.decided', 'call.settled']) {
    expect(events.filter((each) => each === event)).toHaveLength(CALLS);
  }
  for (const each of stores) await each.close();
  await server.stop();
  failOnLeaks();
});
