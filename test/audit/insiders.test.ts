import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { acceptGap } from '../../src/audit/accept-gap.ts';
import { drainLane, type LaneDrain } from '../../src/audit/drain-lane.ts';
import { drainStatements, type DrainStatementsOptions } from '../../src/audit/drain-statements.ts';
import { readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { openSqliteSink } from '../../src/stores/sqlite/audit/sqlite-sink.ts';
import { openSigner } from '../../src/audit/statement-signer.ts';
import { verifyTrail, type Verification } from '../../src/audit/verify-trail.ts';
import { knownLengths } from '../../src/operate/verify-audit.ts';
import type { AuditSink } from '../../src/domain/ports/audit-store.ts';
import type { JournalStore } from '../../src/domain/ports/store.ts';
import type { Role } from '../../src/stores/redis/acl-roles.ts';
import { adoptRedisStore } from '../../src/stores/redis/adopt-store.ts';
import { openConnection, sendCommand, untilReady, type Connection } from '../../src/stores/redis/connection.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { parseRecord } from '../../src/domain/audit/record-bytes.ts';
import { acceptMany, claimMany, openSession, settleRequest, type TestSession } from '../contract/fixtures.ts';
import { startAclServer, type AclServer } from '../deploy/acl-server.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { SILENT_LOG } from '../support/sample-call.ts';

/** The roles whose password lets a user append to the journal. These tests show what such a user can do to the audit. */
const APPENDING: readonly Role[] = ['client', 'worker', 'operator'];
const JOURNAL = '{sallyport:0}:journal';
const META = '{sallyport:0}:meta';
const FAR = { records: 1e9, lateMs: 1e9 };

let server: AclServer;
const users = new Map<Role, Connection>();
beforeAll(async () => {
  server = await startAclServer();
  for (const role of APPENDING) {
    const login = { username: `sallyport-${role}`, password: server.password(role) };
    const user = openConnection({ url: server.url, ...login, commandTimeoutMs: 10_000 }, 'commands');
    await untilReady(user, 10_000);
    users.set(role, user);
  }
});
afterAll(async () => {
  for (const user of users.values()) user.disconnect();
  await server.stop();
});

let folder: TemporaryFolder;
let store: JournalStore;
let sink: AuditSink;
let session: TestSession;
beforeEach(async () => {
  await server.redis.cli('FLUSHALL');
  folder = temporaryFolder('sallyport-insiders');
  store = await openRedisStore({ url: server.redis.url });
  sink = await openSqliteSink(join(folder.path, 'audit.sqlite'));
  session = await openSession(store);
  // The tests count records of calls, so the record of the opened session is deleted.
  await server.redis.cli('DEL', JOURNAL);
  await server.redis.cli('HSET', META, 'auditSequence', '0');
});
afterEach(async () => {
  await sink.close();
  await store.close();
  folder.remove();
});

const as = (role: Role, command: string, ...args: (string | Buffer)[]): Promise<unknown> =>
  sendCommand(users.get(role)!, command, args);
const keys = (): string => join(folder.path, 'keys');
const drain = (options: DrainStatementsOptions = {}): LaneDrain =>
  drainLane(
    0,
    { drainer: 'one', leaseMs: 60_000, bounds: { privileged: FAR, everything: FAR } },
    { store, sink, statements: drainStatements(sink, keys(), options), log: SILENT_LOG },
  );
async function drainAll(lane = drain()): Promise<LaneDrain> {
  while ((await lane.round()) > 0);
  return lane;
}
const verify = async (): Promise<Verification> => verifyTrail(sink, readTrustedKeys(keys()), await knownLengths(store));
const statements = async () =>
  (await sink.listStatements({ after: 1, limit: 100 })).map(({ text }) => JSON.parse(text) as Record<string, unknown>);

/** Accepts and settles calls, and returns their ids. Each settled call has written one record. */
async function settle(count: number): Promise<string[]> {
  await acceptMany(store, session, count);
  const settled: string[] = [];
  while (settled.length < count) {
    for (const delivery of await claimMany(store, { lane: 0 })) {
      expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
      expect(await store.readCall(delivery.callId)).toMatchObject({ state: 'settled' });
      settled.push(delivery.callId);
    }
  }
  return settled;
}
async function trailIds(): Promise<string[]> {
  const { store: id } = await store.auditState({ lane: 0 });
  const records = await sink.readTrail({ store: id, lane: 0, fromSequence: 1, limit: 1000 });
  return records.map(({ text }) => parseRecord(text)!.callId!);
}

describe.each(APPENDING)('the audit against the %s', (role) => {
  it('takes garbage for what it is: settles and the drain go on, and verify names it', async () => {
    const before = await settle(1);
    await as(role, 'RPUSH', JOURNAL, 'x', '', 'J1', Buffer.alloc(40, 0xff), 'J1'.padEnd(500, '\0'));
    const after = await settle(1);
    const lane = await drainAll();
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
    expect(await trailIds()).toEqual([...before, ...after]);
    const { problem, foreign, records } = await verify();
    expect({ problem, records }).toEqual({ problem: undefined, records: 2 });
    expect(foreign).toMatchObject([{ lane: 0, elements: 5, bytes: 543, uncounted: 0, after: 0, through: 2 }]);
    expect(await store.auditState({ lane: 0 })).toMatchObject({ foreign: 5, surplus: 0, sequence: 2, drained: 2 });
  });

  it('takes what no record can be made of for garbage: neither the drain nor a query stops at it', async () => {
    const nested = `{"tenant":"a","subject":"b","agent":"c","channel":${'['.repeat(5000)}${']'.repeat(5000)}}`;
    const long = JSON.stringify({ tenant: '\0'.repeat(1000), subject: '\0'.repeat(1000), agent: 'c' });
    await as(
      role,
      'RPUSH',
      JOURNAL,
      madeUp({ identity: nested }),
      madeUp({ identity: long }),
      madeUp({ at: 2 ** 53 - 1 }),
    );
    // This event is recorded in the lane of the deployment, which this role cannot write; in lane 0 it is no valid record.
    await as(role, 'RPUSH', JOURNAL, madeUp({ event: 'policy.changed' }));
    const after = await settle(1);
    expect((await drainAll()).state).toEqual({ lane: 0, backlog: 0 });
    expect(await trailIds()).toEqual(after);
    expect((await verify()).foreign).toMatchObject([{ elements: 4 }]);
    const { records } = await sink.queryTrail({ filter: { event: 'call.settled' }, limit: 10 });
    expect(records).toHaveLength(1);
  });

  it('takes a made-up record with very many maps in it for a record, and goes on', async () => {
    await as(role, 'RPUSH', JOURNAL, madeUp({ detail: Buffer.alloc(300_000, 0x80) }));
    await settle(1);
    expect((await drainAll()).state).toEqual({ lane: 0, backlog: 0 });
    expect(await verify()).toMatchObject({ records: 2, foreign: [{ elements: 0, uncounted: 1 }] });
  });

  it('keeps every record when one that was made up took its number first, and says that there is one too many', async () => {
    const [made] = await settle(1);
    const element = await copyOfFirst();
    element.writeDoubleLE(2, 10);
    await as(role, 'RPUSH', JOURNAL, element);
    element.writeDoubleLE(1e15, 10);
    await as(role, 'RPUSH', JOURNAL, element);
    const after = await settle(2);
    await drainAll();
    expect(await trailIds()).toEqual([made, made, made, ...after]);
    const { problem, foreign } = await verify();
    expect(problem).toBeUndefined();
    expect(foreign).toMatchObject([{ elements: 0, uncounted: 2 }]);
    await settle(1);
    expect((await drainAll()).state.alarm).toBeUndefined();
    expect((await verify()).problem).toBeUndefined();
  });

  it('cannot be trimmed, popped, overwritten, renamed, copied, read or made another key', async () => {
    await settle(2);
    const mine = '{sallyport:0}:forget:x';
    const attempts: string[][] = [
      ['XADD', JOURNAL, 'MAXLEN', '0', '*', 'x', 'y'],
      ['XADD', '{sallyport:0}:audit', '*', 'x', 'y'],
      ['LTRIM', JOURNAL, '1', '0'],
      ['LPOP', JOURNAL],
      ['RPOP', JOURNAL],
      ['BLPOP', JOURNAL, '1'],
      ['LREM', JOURNAL, '0', 'x'],
      ['LSET', JOURNAL, '0', 'x'],
      ['LINSERT', JOURNAL, 'BEFORE', 'x', 'y'],
      ['LPUSH', JOURNAL, 'x'],
      ['LMOVE', JOURNAL, mine, 'LEFT', 'RIGHT'],
      ['RPOPLPUSH', JOURNAL, mine],
      ['LMPOP', '1', JOURNAL, 'LEFT'],
      ['LINDEX', JOURNAL, '0'],
      ['LRANGE', JOURNAL, '0', '-1'],
      ['DEL', JOURNAL],
      ['UNLINK', JOURNAL],
      ['EXPIRE', JOURNAL, '1'],
      ['PEXPIRE', JOURNAL, '1'],
      ['SET', JOURNAL, 'x'],
      ['GETDEL', JOURNAL],
      ['RENAME', JOURNAL, mine],
      ['RENAME', mine, JOURNAL],
      ['COPY', mine, JOURNAL, 'REPLACE'],
      ['RESTORE', JOURNAL, '0', 'x', 'REPLACE'],
      ['MIGRATE', '127.0.0.1', '1', JOURNAL, '0', '10'],
      ['SORT', mine, 'STORE', JOURNAL],
      ['SORT', JOURNAL, 'STORE', mine],
      ['EVAL', "return redis.call('DEL', KEYS[1])", '1', JOURNAL],
      ['HSET', '{sallyport:0}:drain', 'removed', '9'],
      ['HDEL', '{sallyport:0}:drain', 'drained'],
      ['DEL', '{sallyport:0}:drain'],
    ];
    const answers = await Promise.all(
      attempts.map(([command, ...args]) => as(role, command!, ...args).then(() => command, String)),
    );
    expect(answers.filter((answer) => !answer!.includes('NOPERM'))).toEqual([]);
    await expect(callFunction(role, 'drain_audit', 3)).rejects.toThrow(/NOPERM/);
    await expect(callFunction(role, 'move_audit', 4)).rejects.toThrow(/NOPERM/);
    expect(await server.redis.cli('LLEN', JOURNAL)).toBe('2');
  });

  it('counts again when its count was made nonsense, and settles meanwhile', async () => {
    await settle(2);
    const huge = ['500000000000000', '9007199254740990', '9223372036854775807', '99999999999999999999999'];
    for (const nonsense of ['garbage', '', '-7', '1.5', 'nan', ...huge]) {
      await as(role, 'HSET', META, 'auditSequence', nonsense);
      await settle(1);
    }
    expect(await store.auditState({ lane: 0 })).toMatchObject({ sequence: 11 });
    // The second value is a possible count, but further ahead than any lane can have lost records.
    for (const nonsense of ['garbage', '500000000000000']) {
      await as(role, 'HSET', META, 'auditSequence', nonsense);
      expect((await drainAll()).state).toEqual({ lane: 0, backlog: 0 });
      expect(await server.redis.cli('HGET', META, 'auditSequence')).toBe('11');
      expect(await verify()).toMatchObject({ records: 11, foreign: [] });
      expect((await verify()).problem).toBeUndefined();
    }
  });

  it('takes a count that was set back for records that were not counted, and one set forward for a loss', async () => {
    await settle(3);
    await as(role, 'HSET', META, 'auditSequence', '1');
    expect((await drainAll()).state.alarm).toBeUndefined();
    expect((await verify()).foreign).toMatchObject([{ uncounted: 2 }]);
    await as(role, 'HSET', META, 'auditSequence', '1000000');
    await settle(1);
    const lane = await drainAll();
    expect(lane.state.alarm).toBe('records 4 to 1000002 are missing; the lane goes on with 1000001');
    expect((await verify()).problem).toMatchObject({ what: expect.stringContaining('999999 records') as string });
    await accept();
    await drainAll(lane);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
    expect(await verify()).toMatchObject({ records: 4, gaps: [{ from: 4, to: 1000002 }] });
    expect((await verify()).problem).toBeUndefined();
  });
});

describe('a flood', () => {
  it('of 100,000 elements and some huge ones makes few statements, and no record waits for ever', async () => {
    const [first] = await settle(1);
    const many = Array.from({ length: 10_000 }, (_, index) => `${index}`);
    for (let times = 0; times < 10; times += 1) await as('client', 'RPUSH', JOURNAL, ...many);
    for (let times = 0; times < 3; times += 1) await as('client', 'RPUSH', JOURNAL, Buffer.alloc(20 * 1024 * 1024, 74));
    const [last] = await settle(1);
    await drainAll();
    expect(await trailIds()).toEqual([first, last]);
    expect(await server.redis.cli('LLEN', JOURNAL)).toBe('0');
    const { foreign, problem } = await verify();
    expect(problem).toBeUndefined();
    expect(foreign.reduce((sum, { elements }) => sum + elements, 0)).toBe(100_003);
    expect(foreign.length).toBeLessThan(6);
  });
});

describe('a record that was lost', () => {
  const lose = async (): Promise<void> => {
    await settle(4);
    await server.redis.cli('LSET', JOURNAL, '1', 'lost');
    await server.redis.cli('LREM', JOURNAL, '1', 'lost');
  };

  it('stops the drain until an operator accepts the gap; the trail is whole but for exactly that', async () => {
    await lose();
    const lane = await drainAll();
    expect(lane.state).toEqual({ lane: 0, backlog: 2, alarm: 'record 2 is missing; the lane goes on with 3' });
    expect((await verify()).problem).toMatchObject({ lane: 0, sequence: 2 });
    await accept();
    expect((await verify()).problem).toBeUndefined();
    await drainAll(lane);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
    const { store: id } = await store.auditState({ lane: 0 });
    const kept = await sink.readTrail({ store: id, lane: 0, fromSequence: 1, limit: 9 });
    expect(kept.map(({ text }) => parseRecord(text)!.sequence)).toEqual([1, 3, 4]);
    expect(await verify()).toMatchObject({
      records: 3,
      gaps: [{ from: 2, to: 2, reason: 'a disk', by: 'operator:ann' }],
    });
    expect((await verify()).problem).toBeUndefined();
    await settle(1);
    await drainAll();
    expect(await verify()).toMatchObject({ records: 4 });
  });

  it('is not covered by a gap of another range, of another lane or of a key that is not trusted', async () => {
    await lose();
    const { store: id } = await store.auditState({ lane: 0 });
    const gap = { kind: 'gap', at: 1, store: id, lane: 0, from: 2, to: 2, reason: 'x', by: 'x' } as const;
    const own = drainStatements(sink, keys());
    await own.add({ ...gap, to: 3 });
    await own.add({ ...gap, from: 1 });
    await own.add({ ...gap, lane: 1 });
    await own.add({ ...gap, store: 'another' });
    await drainStatements(sink, join(folder.path, 'strange-keys')).add(gap);
    const lane = await drainAll();
    expect(lane.state.alarm).toBe('record 2 is missing; the lane goes on with 3');
  });

  it('is covered by a gap that stands behind one which cannot be checked', async () => {
    await lose();
    const { store: id } = await store.auditState({ lane: 0 });
    const gap = { kind: 'gap', at: 1, store: id, lane: 0, from: 1, to: 1, reason: 'x', by: 'x' } as const;
    await drainStatements(sink, join(folder.path, 'strange-keys')).add(gap);
    const lane = await drainAll();
    expect(lane.state.alarm).toBe('record 2 is missing; the lane goes on with 3');
    await accept();
    await drainAll(lane);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
  });

  it('is covered by a gap of another gateway as soon as its key is in audit.trustedKeys', async () => {
    await lose();
    const [others, trustedKeys] = [join(folder.path, 'other-keys'), join(folder.path, 'trusted')];
    mkdirSync(trustedKeys);
    const lane = drain({ trustedKeys });
    await drainAll(lane);
    await acceptGap(sink, openSigner(others), 0, await store.auditState({ lane: 0 }), { reason: 'x', by: 'x' });
    await drainAll(lane);
    expect(lane.state.alarm).toBe('record 2 is missing; the lane goes on with 3');
    const [publicKey] = readdirSync(others).filter((name) => name.endsWith('.public.pem'));
    copyFileSync(join(others, publicKey!), join(trustedKeys, publicKey!));
    await drainAll(lane);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
  });

  it('at the end is accepted too, and a new drainer goes on behind it', async () => {
    await settle(2);
    await drainAll();
    await settle(2);
    await server.redis.cli('DEL', JOURNAL);
    const lane = await drainAll();
    expect(lane.state.alarm).toBe('records 3 to 4 are missing; the lane has counted 4');
    await accept();
    await drainAll(lane);
    await lane.leave();
    await settle(1);
    expect((await drainAll()).state).toEqual({ lane: 0, backlog: 0 });
    expect(await verify()).toMatchObject({ records: 3, gaps: [{ from: 3, to: 4 }], lanes: [{ last: 5 }] });
    expect((await verify()).problem).toBeUndefined();
  });

  it('is noticed by verify also where no drain has looked, and where the sink has nothing yet', async () => {
    await settle(2);
    await server.redis.cli('DEL', JOURNAL);
    const what = '2 records that the lane has counted are neither in the trail nor on the way to it';
    expect((await verify()).problem).toMatchObject({ lane: 0, sequence: 1, what });
    await settle(1);
    expect((await verify()).problem).toMatchObject({ lane: 0, sequence: 1, what });
  });

  it('has no gap to accept where nothing is missing', async () => {
    await settle(1);
    await drainAll();
    await expect(accept()).rejects.toMatchObject({ code: 'AUDIT_NO_GAP' });
    expect(await statements()).toEqual([]);
  });
});

describe('a store that is adopted', () => {
  it('counts the records that wait, and none of the garbage that begins like a record', async () => {
    await settle(2);
    await as('client', 'RPUSH', JOURNAL, 'J1x', 'J1', madeUp({ at: 2 ** 53 - 1 }), 'x');
    await settle(1);
    await store.close();
    await adoptRedisStore({ url: server.redis.url }, () => Promise.resolve());
    store = await openRedisStore({ url: server.redis.url });
    expect(await store.auditState({ lane: 0 })).toMatchObject({ sequence: 3, drained: 0 });
    expect((await drainAll()).state).toEqual({ lane: 0, backlog: 0 });
    expect(await verify()).toMatchObject({ records: 3, foreign: [{ elements: 4, uncounted: 0 }] });
  });

  it('counts in parts: more records than one page of the journal has', async () => {
    await settle(1);
    const element = await copyOfFirst();
    await as('client', 'RPUSH', JOURNAL, ...Array.from({ length: 2500 }, () => element));
    await store.close();
    await adoptRedisStore({ url: server.redis.url }, () => Promise.resolve());
    store = await openRedisStore({ url: server.redis.url });
    expect(await store.auditState({ lane: 0 })).toMatchObject({ sequence: 2501 });
  });
});

async function accept(): Promise<void> {
  const word = { reason: 'a disk', by: 'operator:ann' };
  await acceptGap(sink, openSigner(keys()), 0, await store.auditState({ lane: 0 }), word);
}

/** Builds an element of the journal with a record about a session, in the form that the store's Redis functions write. */
function madeUp({
  event = 'session.opened',
  identity = '{"tenant":"a","subject":"b","agent":"c"}',
  at = 1,
  detail = Buffer.alloc(0),
}): Buffer {
  const [name, record] = [Buffer.from(event), Buffer.from(`s\n\n${identity}`)];
  const head = Buffer.alloc(22);
  head.write('J1');
  head.writeDoubleLE(at, 2);
  head.writeDoubleLE(1, 10);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(record.length);
  return Buffer.concat([head, Buffer.from([name.length]), name, length, record, detail]);
}

/** Reads with the test's own user: the roles that append cannot read. */
async function copyOfFirst(): Promise<Buffer> {
  const connection = openConnection({ url: server.redis.url, commandTimeoutMs: 10_000 }, 'commands');
  await untilReady(connection, 10_000);
  const element = (await connection.callBuffer('LINDEX', JOURNAL, '0')) as Buffer;
  connection.disconnect();
  return Buffer.from(element);
}

function callFunction(role: Role, name: string, keyCount: number): Promise<unknown> {
  const names = [META, '{sallyport:0}:drain', JOURNAL, '{sallyport:0}:audit'].slice(0, keyCount);
  return as(role, 'FCALL', `sp1_${name}`, String(keyCount), ...names);
}
