import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { drainLane } from '../../src/audit/drain-lane.ts';
import { drainStatements } from '../../src/audit/drain-statements.ts';
import { openSqliteSink } from '../../src/stores/sqlite/audit/sqlite-sink.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import { adoptStore, inspectAdoptionOf } from '../../src/operate/adopt-store.ts';
import { backupStore, restoreStore, upgradeStore } from '../../src/operate/backup-store.ts';
import { knownLengths } from '../../src/operate/verify-audit.ts';
import { Database } from '../../src/stores/sqlite/database.ts';
import { openEmbeddedStore } from '../../src/stores/embedded/embedded-store.ts';
import { SCHEMA_VERSION, schemaVersionOf } from '../../src/stores/embedded/schema.ts';
import { openConnection, sendCommand, untilReady } from '../../src/stores/redis/connection.ts';
import { composeLibrary, readFunctions } from '../../src/stores/redis/function-library.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { acceptOne, claimOne, openSession, settleRequest } from '../contract/fixtures.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { CENTURY_MS, fillOldStore, finishOldStore, keepFacts, OLD_STORES, type OldStoreFacts } from './old-store.ts';

const quiet = { onProgress: () => undefined };
const factsOf = (name: string): OldStoreFacts =>
  JSON.parse(readFileSync(join(OLD_STORES, `${name}.json`), 'utf8')) as OldStoreFacts;

let folder: TemporaryFolder;
beforeEach(() => void (folder = temporaryFolder('sallyport-upgrade')));
afterEach(() => folder.remove());

const EMBEDDED = 'embedded-schema-6';
const REDIS = 'redis-schema-1';

it.runIf(process.env['MAKE_OLD_STORES'] !== undefined)('the old stores are made', async () => {
  const file = join(OLD_STORES, `${EMBEDDED}.sqlite`);
  const embedded = await openEmbeddedStore({ folder: folder.path });
  keepFacts(EMBEDDED, await fillOldStore(embedded));
  // Questions expire after days at the latest, but this one has to be open whenever the test runs.
  const late = Date.now() + CENTURY_MS;
  rmSync(file, { force: true });
  await embedded.close();
  const database = new Database(join(folder.path, 'store.sqlite'), 0);
  database.run('UPDATE approval SET expiresAt = ?', late);
  database.close();
  copyFileSync(join(folder.path, 'store.sqlite'), file);
  const server = await startRedis();
  const redis = await openRedisStore({ url: server.url });
  const facts = await fillOldStore(redis);
  keepFacts(REDIS, facts);
  const { id } = facts.asked.question;
  await server.cli('HSET', `{sallyport:0}:approval:${id}`, 'expiresAt', String(late));
  await server.cli('ZADD', '{sallyport:0}:approvals:pending', String(late), id);
  await redis.close();
  rmSync(join(OLD_STORES, REDIS), { recursive: true, force: true });
  const copy = { folder: join(OLD_STORES, REDIS), pauseMs: 4000, ...quiet };
  const made = await backupStore({ store: 'redis', redis: { url: server.url } }, copy);
  expect(made).toMatchObject({ lanes: [{ liveCalls: 3 }] });
  await server.stop();
});

describe('an embedded store of an earlier release', () => {
  const place = (): string => join(folder.path, 'store.sqlite');
  beforeEach(() => copyFileSync(join(OLD_STORES, `${EMBEDDED}.sqlite`), place()));

  /** Removes with SQL what later schema versions added, and sets the version of the file back. */
  function takeBack(sql: string, version: number): void {
    const database = new Database(place(), 0);
    database.execute(`${sql}; PRAGMA user_version = ${version};`);
    database.close();
  }
  const look = <Row>(sql: string): Row[] => {
    const database = new Database(place(), 0);
    try {
      return database.all<Row>(sql);
    } finally {
      database.close();
    }
  };

  it.each([
    ['schema 6', undefined],
    ['schema 5', 'DROP TABLE delegate'],
  ])('%s goes on with its queued, running and parked calls', async (name, sql) => {
    if (sql !== undefined) takeBack(sql, Number(name.slice(-1)));
    const store = await openEmbeddedStore({ folder: folder.path });
    await finishOldStore(store, factsOf(EMBEDDED));
    await store.close();
    const database = new Database(place(), 0);
    expect(schemaVersionOf(database)).toBe(SCHEMA_VERSION);
    database.close();
  });

  it('is left as it was when one step of the upgrade fails', async () => {
    // The file of schema 4 already has the table `delegate`, so the step from 5 to 6 fails. Then the step from 4 to 5 must be undone too.
    const taken = ['DROP TABLE approval', 'DROP TABLE grant'];
    for (const column of ['approval', 'grantId']) {
      taken.push(`ALTER TABLE call DROP COLUMN ${column}`, `ALTER TABLE audit DROP COLUMN ${column}`);
    }
    takeBack(taken.join('; '), 4);
    await expect(openEmbeddedStore({ folder: folder.path })).rejects.toThrow(/delegate already exists/);
    expect(look("SELECT name FROM sqlite_schema WHERE name = 'approval'")).toStrictEqual([]);
    expect(look('PRAGMA user_version')).toEqual([{ user_version: 4 }]);
  });

  it('of a later one is refused and left as it was', async () => {
    takeBack('SELECT 1', SCHEMA_VERSION + 1);
    const before = readFileSync(place());
    await expect(openEmbeddedStore({ folder: folder.path })).rejects.toMatchObject({ code: 'STORE_VERSION' });
    expect(readFileSync(place()).equals(before)).toBe(true);
  });
});

describe('a Redis store of an earlier release', () => {
  let server: RedisServer;
  beforeEach(async () => void (server = await startRedis()));
  afterEach(() => server.stop());
  const options = () => ({ store: 'redis' as const, redis: { url: server.url } });
  const build = (): Promise<string> => server.cli('FCALL_RO', 'sp1_library', '0');
  const library = composeLibrary(readFunctions());
  /** Sends the code over a connection, because it is too long for an argument of a process. */
  async function loadFunctions(code: string): Promise<void> {
    const connection = openConnection({ url: server.url, commandTimeoutMs: 10_000 }, 'commands');
    await untilReady(connection, 10_000);
    await sendCommand(connection, 'FUNCTION', ['LOAD', 'REPLACE', code]);
    connection.disconnect();
  }
  const oldKeys = async () => {
    const prefix = '{sallyport:0}:';
    const incarnation = await server.cli('HGET', '{sallyport}:incarnation', 'id');
    return {
      incarnation,
      prefix,
      meta: `${prefix}meta`,
      live: `${prefix}live`,
      audit: `${prefix}audit`,
      calls: `${prefix}calls`,
    };
  };
  async function callOld(name: string, keys: string[], args: (string | Buffer)[]): Promise<unknown> {
    const connection = openConnection({ url: server.url, commandTimeoutMs: 10_000 }, 'commands');
    await untilReady(connection, 10_000);
    const answer = await sendCommand(connection, 'FCALL', [name, String(keys.length), ...keys, ...args]);
    connection.disconnect();
    return answer;
  }
  const asRevision = (revision: number): string =>
    library.replace(/return '\d+ ([0-9a-f]+)' end/, `return '${revision} $1' end`);

  it('goes on with its queued, running and parked calls', async () => {
    expect(existsSync(join(OLD_STORES, REDIS))).toBe(true);
    await restoreStore(options(), { folder: join(OLD_STORES, REDIS), ...quiet });
    await adoptStore(options(), await inspectAdoptionOf(options()), { rerun: true, retentionMs: 1000 });
    const store = await openRedisStore({ url: server.url });
    await finishOldStore(store, factsOf(REDIS));
    await store.close();
  });

  it('loses no record that waited in the stream of that release, and none that it counted is missed', async () => {
    await restoreStore(options(), { folder: join(OLD_STORES, REDIS), ...quiet });
    // Opens the restored store as adopting would, but keeps its incarnation: the records belong to the chain that the old release began.
    await server.cli('HDEL', '{sallyport}:incarnation', 'condition');
    const [counted, waiting] = [
      Number(await server.cli('HGET', '{sallyport:0}:meta', 'auditSequence')),
      Number(await server.cli('XLEN', '{sallyport:0}:audit')),
    ];
    expect([counted, waiting]).toEqual([2, 2]);
    const store = await openRedisStore({ url: server.url });
    // A worker of the old release still passes the key of the stream that held the audit.
    const delivery = await claimOne(store, { lane: 0 });
    const { incarnation, ...keys } = await oldKeys();
    const settled = settleRequest(delivery);
    const args = [
      incarnation,
      keys.prefix,
      delivery.workerId,
      '1000',
      delivery.pool,
      delivery.entryId,
      delivery.entryId,
    ];
    const each = [delivery.callId, delivery.entryId, String(delivery.fence), Buffer.from(settled.outcome), 'detail'];
    expect(await callOld('sp1_settle_calls', [keys.meta, keys.live, keys.audit, keys.calls], [...args, ...each])).toBe(
      'SETTLED',
    );
    const sink = await openSqliteSink(join(folder.path, 'audit.sqlite'));
    const statements = drainStatements(sink, join(folder.path, 'keys'));
    const bounds = { records: 1e9, lateMs: 1e9 };
    const settings = { drainer: 'new', leaseMs: 60_000, bounds: { privileged: bounds, everything: bounds } };
    const lane = drainLane(0, settings, { store, sink, statements, log: SILENT_LOG });
    while ((await lane.round()) > 0);
    expect(lane.state).toEqual({ lane: 0, backlog: 0 });
    expect(await server.cli('XLEN', '{sallyport:0}:audit')).toBe('0');
    const { records, problem, foreign } = await verifyTrail(sink, new Map(), await knownLengths(store));
    expect({ records, problem, foreign }).toEqual({ records: 3, problem: undefined, foreign: [] });
    await sink.close();
    await store.close();
  });

  it('is brought up by `store upgrade` too, beside those who use it', async () => {
    await restoreStore(options(), { folder: join(OLD_STORES, REDIS), ...quiet });
    await server.cli('HDEL', '{sallyport}:incarnation', 'condition');
    expect(await upgradeStore(options())).toMatchObject({ state: 'upgraded' });
    expect(await server.cli('LLEN', '{sallyport:0}:journal')).toBe('2');
    expect(await upgradeStore(options())).toMatchObject({ state: 'current' });
  });

  it('that is adopted begins its new chain with what waited', async () => {
    await restoreStore(options(), { folder: join(OLD_STORES, REDIS), ...quiet });
    await server.cli('HSET', '{sallyport:0}:meta', 'auditDrained', '1', 'auditFence', '7');
    await adoptStore(options(), await inspectAdoptionOf(options()), { rerun: true, retentionMs: 1000 });
    const store = await openRedisStore({ url: server.url });
    const entries = await store.readAudit({ lane: 0, fromSequence: 1, limit: 10 });
    expect(entries.map(({ sequence, event }) => [sequence, event])).toEqual([[1, 'approval.requested']]);
    expect(await store.auditState({ lane: 0 })).toMatchObject({ sequence: 1, drained: 0, waiting: 1 });
    expect(await store.claimAudit({ lane: 0, drainer: 'x', leaseMs: 1 })).toEqual({ kind: 'claimed', fence: 8 });
    await store.close();
  });

  it('keeps the functions of another version beside ours, and both work on the same calls', async () => {
    const older = library.replaceAll('sp1_', 'sp0_').replace('name=sallyport_1', 'name=sallyport_0');
    await loadFunctions(older);
    const store = await openRedisStore({ url: server.url });
    const session = await openSession(store);
    await acceptOne(store, session);
    const delivery = await claimOne(store);
    const incarnation = await server.cli('HGET', '{sallyport}:incarnation', 'id');
    expect(await server.cli('FCALL_RO', 'sp0_lane_state', '1', '{sallyport:0}:meta', incarnation)).toContain('LANE');
    expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
    expect(await server.cli('FUNCTION', 'LIST')).toMatch(/sallyport_0[\s\S]*sallyport_1|sallyport_1[\s\S]*sallyport_0/);
    await store.close();
  });

  it('gets the newer functions of the same version, and a release that starts late does not take them back', async () => {
    await loadFunctions(asRevision(0));
    await (await openRedisStore({ url: server.url })).close();
    const ours = await build();
    expect(ours.startsWith('0 ')).toBe(false);
    await loadFunctions(asRevision(99));
    await (await openRedisStore({ url: server.url })).close();
    expect(await build()).toBe(ours.replace(/^\d+/, '99'));
  });

  it('of a later schema is refused: opened, saved, restored and adopted alike', async () => {
    await (await openRedisStore({ url: server.url })).close();
    await server.cli('HSET', '{sallyport}:incarnation', 'schema', '99');
    const refusal = { code: 'STORE_VERSION' };
    await expect(openRedisStore({ url: server.url })).rejects.toMatchObject(refusal);
    await expect(
      backupStore(options(), { folder: join(folder.path, 'x'), pauseMs: 1000, ...quiet }),
    ).rejects.toMatchObject(refusal);
    await expect(inspectAdoptionOf(options())).rejects.toMatchObject(refusal);
  });
});
