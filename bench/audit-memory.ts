// Measures what audited calls leave in Redis: with a gateway that drains the records their number is bounded; without one it grows with
// every call.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startWorker } from 'sallyport';
import { connect } from 'sallyport/client';
import { openStore, startGateway, type Store, type StoreOptions } from 'sallyport/testing';
import { explainUsage } from './harness/explain-usage.ts';
import { ownFolder } from './harness/left-behind.ts';
import { startRedis } from './harness/redis-server.ts';
import { formatTable } from './harness/table.ts';

const MODULES = fileURLToPath(new URL('./round-trip/modules', import.meta.url));
const AT_ONCE = 256;
const SESSIONS = 16;
/** Outcomes and keys are kept for only this long here, so that what remains is the audit. A deployment keeps them for a day. */
const RETENTION_MS = 2000;
const FAR = { records: 1e9, lateMs: 1e9 };

const USAGE = 'npm run bench -- audit-memory [--calls 100000] [--json]';
const { values } = explainUsage(USAGE, () =>
  parseArgs({
    options: { calls: { type: 'string', default: '100000' }, json: { type: 'boolean', default: false } },
  }),
);
const calls = Number(values.calls);
if (!(calls >= 1000 && calls <= 1e7)) {
  console.error(USAGE);
  process.exit(2);
}

interface Left {
  readonly drained: boolean;
  readonly calls: number;
  /** Max observed size of the lane's stream. */
  readonly peakBytes: number;
  readonly streamBytes: number;
  readonly records: number;
  /** Memory of the whole server, before and after. */
  readonly usedBefore: number;
  readonly usedAfter: number;
}

async function measure(count: number, drained: boolean): Promise<Left> {
  const server = await startRedis();
  const options: StoreOptions = { store: 'redis', redis: { url: server.url } };
  const store = await openStore(options);
  await openTools(store);
  const worker = await startWorker({
    ...options,
    modules: MODULES,
    health: false,
    concurrency: 128,
    retentionMs: RETENTION_MS,
  });
  const folder = ownFolder();
  const sink = { kind: 'sqlite' as const, file: join(folder, 'audit.sqlite') };
  const bounds = { privileged: FAR, everything: FAR };
  const audit = { sink, keys: join(folder, 'keys'), signEveryMs: 60_000, retention: {}, bounds };
  const gateway = drained ? await startGateway({ ...options, audit, health: false }) : undefined;
  const redis = new Redis(server.url);
  const streamBytes = async (): Promise<number> =>
    Number((await redis.memory('USAGE', '{sallyport:0}:journal', 'SAMPLES', '0')) ?? 0);
  const usedBefore = await usedMemory(redis);
  let peakBytes = 0;
  const watch = setInterval(() => void streamBytes().then((bytes) => (peakBytes = Math.max(peakBytes, bytes))), 250);
  await makeCalls(options, count);
  const state = await untilQuiet(store, drained);
  clearInterval(watch);
  const left = {
    drained,
    calls: count,
    records: state.sequence,
    streamBytes: await streamBytes(),
    peakBytes: Math.max(peakBytes, await streamBytes()),
    usedBefore,
    usedAfter: await usedMemory(redis),
  };
  await gateway?.drain();
  await worker.drain();
  await store.close();
  redis.disconnect();
  await server.stop();
  return left;
}

async function openTools(store: Store): Promise<void> {
  const { version, policy } = await store.readPolicy();
  const loops = { default: { enabled: false } };
  const permissions = { 'bench.*': { allow: ['*'] } };
  await store.writePolicy({ expectedVersion: version, policy: { ...policy, permissions, loops } });
}

async function makeCalls(options: StoreOptions, count: number): Promise<void> {
  const client = await connect(options);
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) => client.openSession({ subject: `subject-${index}`, agent: 'bench' })),
  );
  let next = 0;
  async function call(): Promise<void> {
    while (next < count) {
      const id = next++;
      const answer = await client.call(sessions[id % SESSIONS]!, 'bench.read', { id, text: 'x'.repeat(64) });
      if (answer.kind !== 'settled') throw new Error(`a call was ${answer.kind}`);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, call));
  await client.close();
}

/** Waits until the gateway, if there is one, has drained all records, and then until the store has forgotten the outcomes. */
async function untilQuiet(store: Store, drained: boolean) {
  for (;;) {
    const state = await store.auditState({ lane: 0 });
    if (!drained || state.drained === state.sequence) {
      await new Promise((resolve) => setTimeout(resolve, 3 * RETENTION_MS));
      return store.auditState({ lane: 0 });
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? 0);
}

const rows = [await measure(calls, true), await measure(calls, false)];
if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  const mib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(2);
  console.log(
    formatTable(
      [
        'gateway',
        'calls',
        'records',
        'stream at most, MiB',
        'stream at the end, MiB',
        'server before, MiB',
        'server after, MiB',
      ],
      rows.map((row) => [
        row.drained ? 'drains' : 'none',
        String(row.calls),
        String(row.records),
        mib(row.peakBytes),
        mib(row.streamBytes),
        mib(row.usedBefore),
        mib(row.usedAfter),
      ]),
    ),
  );
}
