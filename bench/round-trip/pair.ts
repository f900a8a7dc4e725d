import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ownChild, ownFolder } from '../harness/left-behind.ts';
import { cpuMicrosecondsOf, startRedis } from '../harness/redis-server.ts';
import type { Load, LoopResult } from './run-loop.ts';
import type { Order } from './side.ts';
import { VARIANTS, type VariantName } from './variants.ts';

/** CPU time per call. NaN where the variant has no such process. */
interface CpuPerCall {
  readonly callerUs: number;
  readonly workerUs: number;
  readonly redisUs: number;
}

export interface Measurement extends LoopResult, CpuPerCall {}

/** Caller, worker and server of one variant, kept running for the whole bench: what is measured is warm. */
export interface Pair {
  readonly about: string;
  measure(load: Load): Promise<Measurement>;
  close(): Promise<void>;
}

/**
 * For caller and worker of every variant alike: with the small default the figures are those of the collector's helper threads,
 * which compete with everything else on the machine. The second is what the command line sets for itself.
 */
export const SIDE_FLAGS = ['--max-semi-space-size=64', '--no-allocation-site-pretenuring'] as const;

const SIDE = fileURLToPath(new URL('./side.js', import.meta.url));

export async function openPair(name: VariantName, profileFolder?: string): Promise<Pair> {
  const variant = await VARIANTS[name]();
  const redis = await startRedis();
  const place = { redisUrl: redis.url, folder: ownFolder() };
  const worker = variant.openWorker === undefined ? undefined : startSide(name, 'worker', profileFolder);
  const caller = startSide(name, 'caller', profileFolder);
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

interface Side {
  order(order: Order): Promise<unknown>;
  close(): Promise<void>;
}

function startSide(name: VariantName, role: 'caller' | 'worker', profileFolder?: string): Side {
  const profile = ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${name}-${role}.cpuprofile`];
  const child = fork(SIDE, [name, role], {
    execArgv: [...SIDE_FLAGS, ...(profileFolder === undefined ? [] : profile)],
  });
  ownChild(child);
  const order = (what: Order): Promise<unknown> => ask(child, `${name} ${role}`, what);
  return {
    order,
    async close() {
      const gone = once(child, 'exit');
      await order({ kind: 'close' });
      await gone;
    },
  };
}

async function ask(child: ChildProcess, who: string, order: Order): Promise<unknown> {
  const settled = new AbortController();
  try {
    const answered = once(child, 'message', { signal: settled.signal });
    const ended = once(child, 'exit', { signal: settled.signal }).then(() => {
      throw new Error(`${who} ended while it was asked to ${order.kind}`);
    });
    child.send(order);
    const [reply] = (await Promise.race([answered, ended])) as [{ answer?: unknown; problem?: string }];
    if (reply.problem !== undefined) throw new Error(`${who}: ${reply.problem}`);
    return reply.answer;
  } finally {
    settled.abort();
  }
}
