import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acceptGap } from '../../src/audit/accept-gap.ts';
import { drainLane, type LaneDrain } from '../../src/audit/drain-lane.ts';
import { drainStatements } from '../../src/audit/drain-statements.ts';
import { openPostgresSink } from '../../src/audit/postgres-sink.ts';
import { readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { openSigner } from '../../src/audit/statement-signer.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import { knownLengths } from '../../src/operate/verify-audit.ts';
import { startGateway, type GatewayOptions } from '../../src/compose/start-gateway.ts';
import { DEPLOYMENT_LANE } from '../../src/domain/audit/audit-record.ts';
import { CLOSED_POLICY } from '../../src/domain/policy/policy.ts';
import type { AuditBounds, AuditSink } from '../../src/domain/ports/audit-store.ts';
import type { JournalStore } from '../../src/domain/ports/store.ts';
import { openConnection, untilReady } from '../../src/stores/redis/connection.ts';
import { laneKeys } from '../../src/stores/redis/keys.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { parseRecord } from '../../src/domain/audit/record-bytes.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { encode } from '../../src/base/message-pack.ts';
import {
  acceptMany,
  acceptRequest,
  claimMany,
  detail,
  holdOne,
  openSession,
  settleRequest,
  startRequest,
  type TestSession,
} from '../contract/fixtures.ts';
import { storeTimePasses } from '../contract/observe.ts';
import { eventually, temporaryFolder } from '../support/process.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { SILENT_LOG } from '../support/sample-call.ts';

const FAR: AuditBounds = {
  privileged: { records: 1e9, lateMs: 1e9 },
  everything: { records: 1e9, lateMs: 1e9 },
};

const keyFolder = temporaryFolder('sallyport-audit-keys');
const keys = keyFolder.path;

let redis: RedisServer;
let postgres: PostgresServer;
beforeAll(async () => {
  redis = await startRedis();
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  await redis.stop();
  keyFolder.remove();
  failOnLeaks();
});

let store: JournalStore;
let sink: AuditSink;
let session: TestSession;
let name: string;
let schema: string;
beforeEach(async () => {
  name = `t${randomId()}`;
  schema = `t${process.hrtime.bigint()}`;
  store = await openRedisStore({ url: redis.url, name });
  sink = await openPostgresSink({ url: postgres.url, schema });
  session = await openSession(store);
  // These tests count records of calls, so the record of the opened session is deleted.
  await redis.cli('DEL', laneKeys(name, 0).audit);
  await redis.cli('HSET', laneKeys(name, 0).meta, 'auditSequence', '0');
});
afterEach(async () => {
  await sink.close();
  await store.close();
});

const journalKey = () => `{${name}:0}:journal`;
const lengthOfLane = async () => Number(await redis.cli('LLEN', journalKey()));

async function settleSome(count: number): Promise<void> {
  await acceptMany(store, session, count);
  let left = count;
  while (left > 0) {
    const deliveries = await claimMany(store, { lane: 0 });
    await Promise.all(deliveries.map((delivery) => store.settleCall(settleRequest(delivery))));
    left -= deliveries.length;
  }
}

/** Fields of the request of a drain that has found nothing unusual. */
const NOTHING_FOUND = { lane: 0, surplus: 0, foreign: 0, leaseMs: 60_000, bounds: FAR };

const drainer = (
  label: string,
  parts: { leaseMs?: number; store?: JournalStore; bounds?: AuditBounds } = {},
): LaneDrain =>
  drainLane(
    0,
    { drainer: label, leaseMs: parts.leaseMs ?? 60_000, bounds: parts.bounds ?? FAR },
    { store: parts.store ?? store, sink, statements: drainStatements(sink, keys), log: SILENT_LOG },
  );

/** Deletes one element directly in Redis, which no role that only appends could do. */
async function removeElement(index: number): Promise<void> {
  await redis.cli('LSET', journalKey(), String(index), 'to be removed');
  await redis.cli('LREM', journalKey(), '1', 'to be removed');
}

async function drainAll(lane: LaneDrain): Promise<number> {
  let total = 0;
  for (let taken = await lane.round(); taken > 0; taken = await lane.round()) total += taken;
  return total;
}

describe('the drain of a lane', () => {
  it('moves every record into the chain once and leaves nothing in the lane', async () => {
    await settleSome(1300);
    expect(await lengthOfLane()).toBeGreaterThan(10);
    const lane = drainer('one');
    expect(await drainAll(lane)).toBe(1300);
    expect(await lengthOfLane()).toBe(0);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
    await settleSome(3);
    expect(await drainAll(lane)).toBe(3);
    expect(await verifyTrail(sink, new Map())).toMatchObject({ records: 1303 });
    expect((await verifyTrail(sink, new Map())).problem).toBeUndefined();
    expect(await store.auditState({ lane: 0 })).toMatchObject({ sequence: 1303, drained: 1303, drainer: 'one' });
  });

  it('removes by position: a repeated command removes nothing twice, and one for other elements removes nothing', async () => {
    await settleSome(8);
    const claim = await store.claimAudit({ lane: 0, drainer: 'x', leaseMs: 60_000 });
    const fence = claim.kind === 'claimed' ? claim.fence : 0;
    const { elements } = await store.readJournal({ lane: 0, position: 0, limit: 100 });
    const remove = (through: number, last = elements[through - 1]!.digest) =>
      store.drainAudit({ ...NOTHING_FOUND, drainer: 'x', fence, through, position: through, last });
    for (const through of [1, 3, 3, 2, 5]) {
      expect(await remove(through)).toBe('drained');
      const left = await store.readAudit({ lane: 0, fromSequence: 1, limit: 100 });
      const expected = Array.from({ length: 8 - Math.max(through, through === 2 ? 3 : 0) }, (_, index) => 8 - index);
      expect(left.map(({ sequence }) => sequence)).toEqual(expected.toReversed());
    }
    await redis.cli('LPOP', journalKey());
    expect(await remove(7)).toBe('changed');
    expect(await lengthOfLane()).toBe(2);
  });

  it('is one process’s at a time; the next one gets it when the first is silent, and fences it in sink and lane', async () => {
    await settleSome(4);
    const slow = drainer('slow', { leaseMs: 2000 });
    expect(await slow.round()).toBe(4);
    const next = drainer('next', { leaseMs: 60_000 });
    expect(await next.round()).toBe(0);
    expect(next.state.heldBy).toBe('slow');
    await settleSome(4);
    await storeTimePasses(store, 2010);
    expect(await next.round()).toBe(4);
    expect(await slow.round()).toBe(0);
    expect(slow.state.heldBy).toBe('next');
    const stale = { ...NOTHING_FOUND, drainer: 'slow', fence: 1, through: 8, position: 8, last: 'x' };
    expect(await store.drainAudit(stale)).toBe('fenced');
    expect(await store.alarmAudit({ ...stale, problem: 'x' })).toBe('fenced');
  });

  it('a drainer that was fenced while it read commits nothing', async () => {
    await settleSome(4);
    const stalled: JournalStore = {
      ...store,
      readJournal: async (request) => {
        const page = await store.readJournal(request);
        await storeTimePasses(store, 60);
        expect(await drainer('fast').round()).toBe(4);
        return page;
      },
    };
    expect(await drainer('stalled', { leaseMs: 50, store: stalled }).round()).toBe(0);
    expect((await verifyTrail(sink, new Map())).records).toBe(4);
  });

  it('ended between sink and lane goes on from the sink’s head: nothing is lost, nothing is there twice', async () => {
    await settleSome(4);
    const broken: JournalStore = { ...store, drainAudit: () => Promise.reject(new Error('killed')) };
    const dying = drainer('dying', { leaseMs: 1, store: broken });
    await dying.round();
    expect(dying.state.problem).toBe('killed');
    expect(await lengthOfLane()).toBeGreaterThan(0);
    await settleSome(2);
    await storeTimePasses(store, 2);
    expect(await drainAll(drainer('next'))).toBe(2);
    expect(await lengthOfLane()).toBe(0);
    expect((await verifyTrail(sink, new Map())).records).toBe(6);
  });

  it('stops at a gap, says so, and deletes nothing behind it', async () => {
    for (let count = 0; count < 5; count += 1) await settleSome(1);
    await removeElement(2);
    const lane = drainer('one');
    await drainAll(lane);
    expect(lane.state).toMatchObject({ backlog: 2, alarm: 'record 3 is missing; the lane goes on with 4' });
    const alarmed = { alarm: lane.state.alarm, gap: { from: 3, to: 3 }, drained: 2, waiting: 2 };
    expect(await store.auditState({ lane: 0 })).toMatchObject(alarmed);
    await settleSome(1);
    expect(await lane.round()).toBe(0);
    expect(await store.auditState({ lane: 0 })).toMatchObject({ ...alarmed, waiting: 3 });
    expect((await verifyTrail(sink, new Map())).records).toBe(2);
  });

  it.each([
    [
      'the whole lane was deleted',
      async () => void (await redis.cli('DEL', journalKey())),
      'records 3 to 4 are missing; the lane has counted 4',
    ],
    [
      'the store holds older data',
      async () => {
        await redis.cli('HSET', `{${name}:0}:meta`, 'auditSequence', '1');
        await redis.cli('HSET', `{${name}:0}:drain`, 'drained', '1');
      },
      'the lane has had 1 record and the sink has 2: the store holds older data',
    ],
  ])('alarms when %s', async (_what, damage, alarm) => {
    await settleSome(1);
    await settleSome(1);
    const lane = drainer('one');
    await drainAll(lane);
    if (alarm.includes('records 3')) await settleSome(2);
    await damage();
    await lane.round();
    expect(lane.state.alarm).toBe(alarm);
    // Whatever made the drain stop, verify must not report the trail as complete.
    expect((await verifyTrail(sink, new Map(), await knownLengths(store))).problem).toMatchObject({ lane: 0 });
  });
});

describe('the drain into PostgreSQL', () => {
  it('goes on behind an accepted gap, and past a made-up record that the server could not keep as it is', async () => {
    await settleSome(1);
    const connection = openConnection({ url: redis.url, commandTimeoutMs: 10_000 }, 'commands');
    await untilReady(connection, 10_000);
    const genuine = Buffer.from((await connection.callBuffer('LINDEX', journalKey(), '0')) as Buffer);
    const start = genuine.length - settleRequest(await holdOne(store, session)).audit.length;
    const madeUp = [
      Buffer.concat([genuine.subarray(0, start), Buffer.from(encode({ outcome: 'a\0b', comment: '\ud800' }))]),
      // A call id of 65,536 bytes, far longer than an id that a store makes.
      Buffer.concat([
        genuine.subarray(0, 18),
        Buffer.from([0, 0, 1, 0]),
        Buffer.alloc(65_536, 97),
        genuine.subarray(59),
      ]),
    ];
    await connection.call('RPUSH', journalKey(), ...madeUp);
    connection.disconnect();
    const lane = drainer('one');
    await drainAll(lane);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
    for (let count = 0; count < 3; count += 1) await settleSome(1);
    await removeElement(1);
    await drainAll(lane);
    expect(lane.state.alarm).toBe('record 4 is missing; the lane goes on with 4');
    await acceptGap(sink, openSigner(keys), 0, await store.auditState({ lane: 0 }), { reason: 'x', by: 'y' });
    await drainAll(lane);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
    await settleSome(1);
    await drainAll(drainer('one'));
    const verified = await verifyTrail(sink, readTrustedKeys(keys), await knownLengths(store));
    expect(verified.problem).toBeUndefined();
    expect(verified).toMatchObject({ records: 5, gaps: [{ from: 4, to: 4 }], lanes: [{ last: 6 }] });
  });
});

describe('a lane that is late', () => {
  const bounds = (privileged: object, everything: object): AuditBounds => ({
    privileged: { ...FAR.privileged, ...privileged },
    everything: { ...FAR.everything, ...everything },
  });
  const admits = async () => (await store.acceptCall(acceptRequest(session))).kind;
  const refuses = async () => (await store.auditState({ lane: 0 })).refuses;

  it('refuses privileged calls first, then all, by the records that wait, and takes them again when they are drained', async () => {
    const lane = drainer('one', { bounds: bounds({ records: 3 }, { records: 5 }) });
    await lane.round();
    const privileged = await holdOne(store, session);
    await settleSome(3);
    expect(await refuses()).toBe('privileged');
    const intent = startRequest(privileged, { intent: detail('rm') });
    expect(await store.startCall(intent)).toEqual({ kind: 'audit-late' });
    expect(await store.startCall(startRequest(await holdOne(store, session)))).toMatchObject({ kind: 'started' });
    await settleSome(2);
    expect(await refuses()).toBe('everything');
    expect(await store.acceptCall(acceptRequest(session))).toMatchObject({ kind: 'overloaded', what: 'audit' });
    // A call that was accepted before can still be settled.
    expect(await store.settleCall(settleRequest(privileged))).toBe('settled');
    expect(await drainAll(lane)).toBe(6);
    expect(await refuses()).toBe('nothing');
    expect(await admits()).toBe('accepted');
    const [again] = await claimMany(store, { lane: 0 });
    expect(await store.startCall(startRequest(again!, { intent: detail('rm') }))).toMatchObject({ kind: 'started' });
  });

  it('refuses by time too, and has bounds before its first drain', async () => {
    expect(await refuses()).toBe('nothing');
    await store.boundAudit({ lane: 0, bounds: bounds({ lateMs: 50 }, { lateMs: 5_000 }) });
    await eventually(async () => (await refuses()) === 'privileged', { what: 'privileged calls refused', everyMs: 5 });
    await eventually(async () => (await refuses()) === 'everything', { what: 'all calls refused', everyMs: 5 });
    expect(await admits()).toBe('overloaded');
    await drainer('one').round();
    expect(await admits()).toBe('accepted');
    await store.boundAudit({ lane: 0, bounds: bounds({ lateMs: 0 }, { lateMs: 0 }) });
    expect(await admits()).toBe('accepted');
  });
});

describe('a gateway', () => {
  it('drains all lanes, turns red while its sink is down, loses nothing, and signs at its end', async () => {
    const folder = temporaryFolder();
    const many = `m${randomId()}`;
    const fleet = await openRedisStore({ url: redis.url, name: many, lanes: 3 });
    const sessions = await Promise.all([0, 1, 2].map((lane) => openSession(fleet, { lane })));
    await fleet.writePolicy({ expectedVersion: 0, policy: CLOSED_POLICY });
    const settle = async (): Promise<void> => {
      for (const each of sessions) await fleet.settleCall(settleRequest(await holdOne(fleet, each)));
    };
    const options: GatewayOptions = {
      store: 'redis',
      redis: { url: redis.url, name: many },
      log: SILENT_LOG,
      audit: {
        sink: { kind: 'postgres', url: postgres.url, schema },
        keys: join(folder.path, 'keys'),
        signEveryMs: 60_000,
        retention: {},
        bounds: FAR,
      },
    };
    const gateway = await startGateway(options);
    expect(gateway.lanes).toBe(3);
    const ready = async () => (await fetch(`${gateway.healthUrl}/readyz`)).status;
    const records = async () => (await sink.auditHeads()).reduce((sum, { sequence }) => sum + sequence, 0);
    await settle();
    await eventually(async () => (await records()) === 7, { what: 'seven records in the sink' });
    expect(await ready()).toBe(200);
    await postgres.crash();
    await settle();
    await eventually(async () => (await ready()) === 503, { what: 'a red light' });
    await postgres.restart();
    await eventually(async () => (await records()) === 10, { what: 'what waited' });
    await eventually(async () => (await ready()) === 200, { what: 'a green light' });
    await settle();
    await gateway.drain();
    expect(await records()).toBe(13);
    const { text } = (await sink.listStatements({ limit: 9 })).at(-1)!;
    expect(JSON.parse(text)).toMatchObject({
      kind: 'heads',
      heads: [{ lane: DEPLOYMENT_LANE, sequence: 1 }, { sequence: 4 }, { sequence: 4 }, { sequence: 4 }],
    });
    for (const lane of fleet.auditLanes) expect((await fleet.auditState({ lane })).drainer).toBeUndefined();
    const [one] = (await sink.queryTrail({ filter: {}, limit: 1 })).records;
    expect(parseRecord(one!.text)).toMatchObject({ event: 'call.settled', tenant: 'acme' });
    await fleet.close();
    folder.remove();
  });

  it('does not start without its sink, and has nothing to drain where the store keeps its audit itself', async () => {
    const folder = temporaryFolder();
    const audit = { keys: join(folder.path, 'keys'), signEveryMs: 60_000, retention: {}, bounds: FAR };
    const sinkAway = { kind: 'postgres' as const, url: 'postgres://x@127.0.0.1:1/x', schema };
    const away = startGateway({ store: 'redis', redis: { url: redis.url, name }, audit: { ...audit, sink: sinkAway } });
    await expect(away).rejects.toMatchObject({ code: 'AUDIT_SINK_UNAVAILABLE' });
    const gateway = await startGateway({
      store: 'embedded',
      folder: join(folder.path, 'store'),
      audit,
      log: SILENT_LOG,
    });
    expect(gateway.lanes).toBe(0);
    expect((await fetch(`${gateway.healthUrl}/readyz`)).status).toBe(200);
    await gateway.drain();
    folder.remove();
  });
});
