import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoreOptions } from 'sallyport/testing';
import { writeModules } from '../catalog/write-modules.ts';
import { cpuMicrosecondsOf } from '../harness/cpu-of.ts';
import { ownFolder } from '../harness/left-behind.ts';
import { startRedis, type BenchRedis } from '../harness/redis-server.ts';
import { progress } from '../harness/run-bench.ts';
import { startSide, type Side } from '../harness/side-process.ts';
import { bytesBelow, usedMemory } from '../harness/store-size.ts';
import { modulesOf, type Population } from './population.ts';
import type { Order, RunResult } from './side.ts';

export type StoreKind = 'redis' | 'embedded';

/** Time and CPU of one call. On an embedded store, caller and worker are one process, which counts as the worker. */
export interface GrowthCell {
  readonly usPerCall: number;
  readonly callerUs: number;
  readonly workerUs: number;
  readonly redisUs: number;
}

/** A filled plane of one size that runs for the whole bench. */
export interface GrownPlane {
  readonly population: Population;
  measure(calls: number, concurrency: number): Promise<GrowthCell>;
  storeBytes(): Promise<number>;
  close(): Promise<void>;
}

const SIDE = fileURLToPath(new URL('./side.js', import.meta.url));
const DAY_MS = 24 * 60 * 60 * 1000;
/** Measured calls are forgotten after this time, so that the store keeps the size at which it is measured. The calls it was filled with stay. */
const MEASURED_RETENTION_MS = 1000;
const FILL = { atOnce: 1024, step: 50_000 };

export async function openPlane(kind: StoreKind, population: Population): Promise<GrownPlane> {
  const redis = kind === 'redis' ? await startRedis() : undefined;
  const folder = ownFolder();
  const store: StoreOptions =
    redis === undefined ? { store: 'embedded', folder } : { store: 'redis', redis: { url: redis.url } };
  const modules = makeModules(population);
  const name = `${kind} with ${JSON.stringify(population)}`;
  const caller = startSide<Order>({ file: SIDE, name: `caller of ${name}` });
  let worker = redis === undefined ? caller : startSide<Order>({ file: SIDE, name: `worker of ${name}` });
  await worker.order({ kind: 'serve', store, modules, retentionMs: DAY_MS });
  await caller.order({ kind: 'open', store, population });
  await fill(caller, population.settled, name);
  if (worker === caller) await worker.order({ kind: 'stop-serving' });
  else {
    // Starts a new process, so that the workers of all sizes are equally young.
    await worker.close();
    worker = startSide<Order>({ file: SIDE, name: `worker of ${name}` });
  }
  await worker.order({ kind: 'serve', store, modules, retentionMs: MEASURED_RETENTION_MS });
  await caller.order({ kind: 'touch' });
  return {
    population,
    measure: (calls, concurrency) => measure({ caller, worker, redis }, calls, concurrency),
    storeBytes: () => (redis === undefined ? Promise.resolve(bytesBelow(folder)) : usedMemory(redis.url)),
    async close() {
      await caller.close();
      if (worker !== caller) await worker.close();
      await redis?.stop();
      rmSync(modules, { recursive: true, force: true });
    },
  };
}

/** The folder is in the package's own tree, so that the modules can import the package by its name. */
function makeModules(population: Population): string {
  const parent = fileURLToPath(new URL('../../.bench-modules/', import.meta.url));
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'growth-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeModules(folder, modulesOf(population));
  return folder;
}

/** Fills the store through the whole data path: calls are accepted, run and settled in batches, as on a busy plane. */
async function fill(caller: Side<Order>, count: number, name: string): Promise<void> {
  for (let done = 0; done < count; done += FILL.step) {
    await caller.order({ kind: 'run', calls: Math.min(FILL.step, count - done), concurrency: FILL.atOnce });
    if (count > FILL.step) progress(`filling ${name}: ${Math.min(done + FILL.step, count)} of ${count}`);
  }
}

interface Processes {
  readonly caller: Side<Order>;
  readonly worker: Side<Order>;
  readonly redis: BenchRedis | undefined;
}

async function measure({ caller, worker, redis }: Processes, calls: number, concurrency: number): Promise<GrowthCell> {
  const cpu = async (): Promise<number[]> => [
    worker === caller ? Number.NaN : ((await caller.order({ kind: 'cpu' })) as number),
    (await worker.order({ kind: 'cpu' })) as number,
    redis === undefined ? Number.NaN : cpuMicrosecondsOf(redis.pid),
  ];
  const before = await cpu();
  const result = (await caller.order({ kind: 'run', calls, concurrency })) as RunResult;
  const after = await cpu();
  const [callerUs, workerUs, redisUs] = after.map((value, index) => (value - before[index]!) / result.calls);
  return {
    usPerCall: (result.elapsedMs * 1000) / result.calls,
    callerUs: callerUs!,
    workerUs: workerUs!,
    redisUs: redisUs!,
  };
}
