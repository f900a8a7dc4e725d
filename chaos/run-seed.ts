import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openStore } from 'sallyport/testing';
import { checkHistory, type CheckedHistory } from './checks/checks.ts';
import { collectHistory } from './history/collect.ts';
import { countAnswered } from './history/read-journals.ts';
import { planFaults, type FaultRecord } from './nemesis/fault.ts';
import { faultsFor, runNemesis } from './nemesis/run-nemesis.ts';
import { openStage, type Stage, type StoreName } from './stage/stage.ts';
import { insist } from './stage/insist.ts';
import { monotonicMs } from './workload/monotonic.ts';
import { planWorkload, type Plan } from './workload/plan.ts';
import { seededRandom } from './workload/seeded-random.ts';

export interface SeedOptions {
  readonly store: StoreName;
  readonly seed: number;
  readonly calls: number;
  readonly faults: number;
  readonly signal: AbortSignal;
  /** Folder to which all files of the run are copied. */
  readonly keepIn?: string;
  /** Reports the current state of the run to the user. */
  readonly progress: (line: string) => void;
}

export interface SeedResult extends CheckedHistory {
  readonly store: StoreName;
  readonly seed: number;
  readonly tookMs: number;
}

const CALLERS = 2;
const GAP_MS = 450;
/** Average time of a fault, with the pause before it. */
const FAULT_MS = 650;
const MAX_CALLS_PER_SECOND = 150;
const MIN_MS = 4000;
/** If no call gets its final answer for this long, the run counts as hanging and is ended. */
const STILL_FOR_MS = 90_000;
const FINISH_WITHIN_MS = 20 * 60_000;
const SETTLE_WITHIN_MS = 90_000;
const DRAIN_WITHIN_MS = 40_000;
const LOOK_EVERY_MS = 250;

/** One run. The same seed gives the same calls and the same faults in the same order. Which call a fault hits depends on the timing. */
export async function runSeed(options: SeedOptions): Promise<SeedResult> {
  const { store, seed, calls, faults, signal, progress } = options;
  const startedMs = monotonicMs();
  const lastsMs = Math.max(MIN_MS, faults * FAULT_MS, (calls / MAX_CALLS_PER_SECOND) * 1000);
  const plan = planWorkload({ seed, calls, callers: CALLERS, lastsMs });
  const planned = planFaults(faultsFor(store), faults, GAP_MS, seededRandom(seed + 1_000_003));
  progress('starting');
  const stage = await openStage(store, plan);
  try {
    await stage.start();
    const records: FaultRecord[] = [];
    const timer = setInterval(() => progress(describe(stage, records, faults)), LOOK_EVERY_MS);
    const unfinished = await letRun(stage, plan, runNemesis(stage, planned, records, signal), signal).finally(() =>
      clearInterval(timer),
    );
    if (signal.aborted) throw new Error('stopped');
    progress('draining');
    await drainAll(stage);
    progress('checking');
    const history = await collectHistory(stage, plan, records, unfinished);
    return { store, seed, tookMs: monotonicMs() - startedMs, ...checkHistory(history) };
  } finally {
    await stage.stop(options.keepIn === undefined ? undefined : join(options.keepIn, `${store}-${seed}`));
  }
}

function describe(stage: Stage, records: readonly FaultRecord[], faults: number): string {
  const up = stage.workers.filter(({ isReady }) => isReady).length;
  const last = records.at(-1);
  const text = last === undefined ? '' : `, last ${last.kind} ${last.target}`;
  return `${records.length} of ${faults} faults, ${up} of ${stage.workers.length} workers up${text}`;
}

/**
 * Waits until the faults are over, every caller has its answers, and the store has nothing left to do. Returns the ids of calls that are
 * still not settled.
 */
async function letRun(stage: Stage, plan: Plan, nemesis: Promise<void>, signal: AbortSignal): Promise<string[]> {
  const stopped = new Promise<'stopped'>((resolve) => {
    if (signal.aborted) resolve('stopped');
    signal.addEventListener('abort', () => resolve('stopped'), { once: true });
  });
  await Promise.race([nemesis, stopped]);
  const finished = Promise.all(stage.callers.map((caller) => caller.finished));
  await Promise.race([finished, untilStill(stage, plan), stopped]);
  if (signal.aborted) return [];
  await stage.operator.retire('SIGTERM', 10_000);
  return untilSettled(stage);
}

/** Resolves when no call has got its final answer for `STILL_FOR_MS`, or after `FINISH_WITHIN_MS`. A slow run still gets an answer now and then, so it is not taken for one that stands still. */
async function untilStill(stage: Stage, plan: Plan): Promise<void> {
  const giveUpAtMs = monotonicMs() + FINISH_WITHIN_MS;
  let answered = -1;
  let stillSinceMs = monotonicMs();
  while (monotonicMs() < Math.min(giveUpAtMs, stillSinceMs + STILL_FOR_MS)) {
    await pause(LOOK_EVERY_MS * 8, undefined, { ref: false });
    const now = countAnswered(stage, plan);
    if (now !== answered) stillSinceMs = monotonicMs();
    answered = now;
  }
}

async function untilSettled(stage: Stage): Promise<string[]> {
  const store = await insist(() => openStore(stage.options));
  try {
    const giveUpAtMs = monotonicMs() + SETTLE_WITHIN_MS;
    for (;;) {
      const left = await insist(() => store.listCalls({ limit: 1000 }));
      if (left.length === 0 || monotonicMs() > giveUpAtMs) return left.map(({ callId }) => callId);
      await pause(LOOK_EVERY_MS);
    }
  } finally {
    await store.close();
  }
}

/** Drains the owner of an embedded store last: the other workers need the store to give back the calls that they hold. */
async function drainAll(stage: Stage): Promise<void> {
  const [first, ...others] = stage.workers;
  await Promise.all(others.map((worker) => worker.retire('SIGTERM', DRAIN_WITHIN_MS)));
  await first!.retire('SIGTERM', DRAIN_WITHIN_MS);
  await Promise.all(stage.callers.map((caller) => caller.retire('SIGKILL', 0)));
}
