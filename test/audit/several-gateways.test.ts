import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPostgresSink } from '../../src/audit/postgres-sink.ts';
import { startGateway, type RunningGateway } from '../../src/compose/start-gateway.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { holdOne, openSession, settleRequest } from '../contract/fixtures.ts';
import { eventually, temporaryFolder } from '../support/process.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';
import { SILENT_LOG } from '../support/sample-call.ts';

const FAR = { records: 1e9, lateMs: 1e9 };
const SCHEMA = 'several';
const PUBLIC = '.public.pem';

let redis: RedisServer;
let postgres: PostgresServer;
beforeAll(async () => {
  redis = await startRedis();
  postgres = await startPostgres();
});
afterAll(async () => {
  await postgres.stop();
  await redis.stop();
  failOnLeaks();
});

it('two gateways with a folder of keys each stay ready, and delete old records once they trust each other', async () => {
  const folder = temporaryFolder();
  const trustedKeys = join(folder.path, 'trusted');
  mkdirSync(trustedKeys);
  const store = await openRedisStore({ url: redis.url });
  const session = await openSession(store);
  const sink = await openPostgresSink({ url: postgres.url, schema: SCHEMA });
  const start = (name: string): Promise<RunningGateway> =>
    startGateway({
      store: 'redis',
      redis: { url: redis.url },
      log: SILENT_LOG,
      audit: {
        sink: { kind: 'postgres', url: postgres.url, schema: SCHEMA },
        keys: join(folder.path, name),
        trustedKeys,
        signEveryMs: 200,
        retention: { maxAgeMs: 1 },
        bounds: { privileged: FAR, everything: FAR },
      },
    });
  const gateways = await Promise.all(['one', 'two'].map(start));
  const answers = () =>
    Promise.all(
      gateways.map(async ({ healthUrl }) => {
        const answer = await fetch(`${healthUrl}/readyz`);
        return { status: answer.status, text: await answer.text() };
      }),
    );
  const signers = async () => new Set((await sink.listStatements({ limit: 1000 })).map(({ keyId }) => keyId));
  // When both have signed, each gateway finds statements by a key that it does not know.
  await eventually(
    async () => {
      await store.settleCall(settleRequest(await holdOne(store, session)));
      return (await signers()).size === 2;
    },
    { everyMs: 100, what: 'statements by both keys' },
  );
  await eventually(
    async () => (await answers()).every(({ text }) => text.includes('which is not among the trusted ones')),
    { what: 'both gateways name the unknown key' },
  );
  expect((await answers()).map(({ status }) => status)).toEqual([200, 200]);
  for (const name of ['one', 'two']) {
    for (const file of readdirSync(join(folder.path, name)).filter((found) => found.endsWith(PUBLIC)))
      copyFileSync(join(folder.path, name, file), join(trustedKeys, file));
  }
  const head = (await sink.auditHeads()).find(({ lane }) => lane === 0)!;
  const isDeleted = async () => {
    const [first] = await sink.readTrail({ store: head.store, lane: 0, fromSequence: 1, limit: 1 });
    return first === undefined || !first.text.includes('"sequence":1,');
  };
  await eventually(isDeleted, { what: 'the first record is deleted' });
  await eventually(async () => (await answers()).every(({ text }) => !text.includes('trusted')), {
    what: 'no warning',
  });
  expect((await answers()).map(({ status }) => status)).toEqual([200, 200]);
  await Promise.all(gateways.map((gateway) => gateway.drain()));
  await sink.close();
  await store.close();
  folder.remove();
});
