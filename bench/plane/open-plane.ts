import { fileURLToPath } from 'node:url';
import { startWorker } from 'sallyport';
import { connect, type Client, type SessionHandle } from 'sallyport/client';
import { openStore, type Policy, type StoreOptions } from 'sallyport/testing';
import { ownFolder } from '../harness/left-behind.ts';
import { startRedis, type BenchRedis } from '../harness/redis-server.ts';
import { startSide, type Side } from '../harness/side-process.ts';
import { countEvents, serveBench } from './serve-bench.ts';
import type { Order } from './worker-side.ts';

export const STORE_KINDS = ['redis', 'embedded'] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

/** A plane with the tools of the bench. This process is its caller; on an embedded store it is also its worker. */
export interface BenchPlane {
  readonly client: Client;
  readonly sessions: readonly SessionHandle[];
  readonly redis: BenchRedis | undefined;
  /** The folder of the embedded store. */
  readonly folder: string;
  readonly workers: readonly Side<Order>[];
  /** Calls of this process that the store has accepted so far. */
  accepted(): number;
  /** Calls that the plane's workers have parked so far. */
  parked(): Promise<number>;
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

export interface PlaneSize {
  readonly workers?: number;
  /** The concurrency of each worker. */
  readonly concurrency?: number;
  readonly sessions?: number;
  readonly gate?: Partial<Policy>;
}

/** A policy that asks a person about every call of one tool; the question expires after one hour. */
export const ASK_FIRST: Partial<Policy> = {
  rules: [{ id: 'ask-first', verdict: 'ask', tools: ['bench.unsafe'], ask: { timeoutMs: 3_600_000 } }],
};

const WORKER = fileURLToPath(new URL('./worker-side.js', import.meta.url));
const ADMISSION = { retainedBytes: 2 ** 40, liveBytes: 2 ** 40, liveCalls: 10_000_000 };

export async function openPlane(kind: StoreKind, size: PlaneSize = {}): Promise<BenchPlane> {
  const { workers: count = 1, concurrency = 128, sessions: wanted = 16, gate = {} } = size;
  const redis = kind === 'redis' ? await startRedis() : undefined;
  const folder = ownFolder();
  const store: StoreOptions =
    redis === undefined ? { store: 'embedded', folder } : { store: 'redis', redis: { url: redis.url } };
  await writePolicy(store, gate);
  const serving =
    redis === undefined ? await serveHere(store, concurrency) : await serveAside(store, concurrency, count);
  const accepted = countEvents('call.accepted');
  const client = await connect({ ...store, admission: ADMISSION, onEvent: accepted.hear });
  const sessions = await Promise.all(
    Array.from({ length: wanted }, (_, index) => client.openSession({ subject: `subject-${index}`, agent: 'bench' })),
  );
  return {
    client,
    sessions,
    redis,
    folder,
    accepted: accepted.count,
    ...serving,
    async close() {
      await client.close();
      await serving.stopWorkers();
      await redis?.stop();
    },
  };
}

type Serving = Pick<BenchPlane, 'workers' | 'parked' | 'stopWorkers'>;

async function serveHere(store: StoreOptions, concurrency: number): Promise<Serving> {
  const parked = countEvents('call.parked');
  const worker = await serveBench(startWorker, { ...store, concurrency, onEvent: parked.hear });
  let draining: Promise<void> | undefined;
  return {
    workers: [],
    parked: () => Promise.resolve(parked.count()),
    stopWorkers: () => (draining ??= worker.drain()),
  };
}

async function serveAside(store: StoreOptions, concurrency: number, count: number): Promise<Serving> {
  const workers = Array.from({ length: count }, (_, index) =>
    startSide<Order>({ file: WORKER, name: `worker ${index}` }),
  );
  await Promise.all(workers.map((worker) => worker.order({ kind: 'serve', store, concurrency })));
  let stopping: Promise<void> | undefined;
  return {
    workers,
    async parked() {
      const counts = await Promise.all(workers.map((worker) => worker.order({ kind: 'parked' })));
      return (counts as number[]).reduce((sum, each) => sum + each, 0);
    },
    stopWorkers: () => (stopping ??= Promise.all(workers.map((worker) => worker.close())).then(() => undefined)),
  };
}

async function writePolicy(options: StoreOptions, gate: Partial<Policy>): Promise<void> {
  const store = await openStore(options);
  const { version, policy } = await store.readPolicy();
  const permissions = { 'bench.*': { allow: ['*'] } };
  await store.writePolicy({ expectedVersion: version, policy: { ...policy, permissions, ...gate } });
  await store.close();
}
