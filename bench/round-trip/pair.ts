import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMicrosecondsOf } from '../harness/cpu-of.ts';
import { ownFolder } from '../harness/left-behind.ts';
import { startRedis } from '../harness/redis-server.ts';
import { startSide } from '../harness/side-process.ts';
import type { BenchOptions } from './options.ts';
import type { Load, LoopResult } from './run-loop.ts';
import type { Order } from './side.ts';
import { VARIANTS, type MeasuredName, type VariantName } from './variants.ts';

/** CPU time per call, in microseconds. NaN if the variant has no such process. */
interface CpuPerCall {
  readonly callerUs: number;
  readonly workerUs: number;
  readonly redisUs: number;
}

export interface Measurement extends LoopResult, CpuPerCall {}

/** Caller, worker and server of one variant. They run for the whole bench, so that measurements are warm. */
export interface Pair {
  readonly about: string;
  measure(load: Load): Promise<Measurement>;
  close(): Promise<void>;
}

const SIDE = fileURLToPath(new URL('./side.js', import.meta.url));
/** The path of `side.js` in the built checkout that `--against` names. */
const SIDE_IN_CHECKOUT = 'dist/bench/round-trip/side.js';

export async function openPair(
  measured: MeasuredName,
  { profileFolder, againstFolder }: Pick<BenchOptions, 'profileFolder' | 'againstFolder'> = {},
): Promise<Pair> {
  const name = measured.replace('@against', '') as VariantName;
  const file = name === measured ? SIDE : join(againstFolder!, SIDE_IN_CHECKOUT);
  const openSide = (role: 'caller' | 'worker') => startVariantSide(file, name, role, profileFolder);
  const variant = await VARIANTS[name]();
  const redis = await startRedis();
  const place = { redisUrl: redis.url, folder: ownFolder() };
  const worker = variant.openWorker === undefined ? undefined : openSide('worker');
  const caller = openSide('caller');
  await worker?.order({ kind: 'open', place });
  await caller.order({ kind: 'open', place });

  const cpu = async (): Promise<[caller: number, worker: number, redis: number]> => [
    (await caller.order({ kind: 'cpu' })) as number,
    worker === undefined ? Number.NaN : ((await worker.order({ kind: 'cpu' })) as number),
    worker === undefined ? Number.NaN : cpuMicrosecondsOf(redis.pid),
  ];
  return {
    about: variant.about,
    async measure(load) {
      const before = await cpu();
      const result = (await caller.order({ kind: 'run', load })) as LoopResult;
      const after = await cpu();
      const [callerUs, workerUs, redisUs] = after.map((value, index) => (value - before[index]!) / result.calls);
      return { ...result, callerUs: callerUs!, workerUs: workerUs!, redisUs: redisUs! };
    },
    async close() {
      await caller.close();
      await worker?.close();
      await redis.stop();
    },
  };
}

function startVariantSide(file: string, name: VariantName, role: 'caller' | 'worker', profileFolder?: string) {
  const profile = ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}-${role}.cpuprofile`];
  return startSide<Order>({
    file,
    args: [name, role],
    name: `${name} ${role}`,
    flags: profileFolder === undefined ? [] : profile,
  });
}
