import { setTimeout as pause } from 'node:timers/promises';
import type { Stage, StoreName } from '../stage/stage.ts';
import { monotonicMs } from '../workload/monotonic.ts';
import type { Fault, FaultRecord, FaultRun, PlannedFault } from './fault.ts';
import { FAULTS_ON_OWNER, FAULTS_ON_PROCESSES } from './process-faults.ts';
import { FAULTS_ON_REDIS } from './redis-faults.ts';

export function faultsFor(store: StoreName): readonly Fault[] {
  return store === 'redis'
    ? [...FAULTS_ON_PROCESSES, ...FAULTS_ON_REDIS]
    : [...FAULTS_ON_PROCESSES, ...FAULTS_ON_OWNER];
}

const LOOK_AGAIN_MS = 50;
/** Max wait for the planned target. After that any other possible fault is injected, so that a slow machine gets as many faults as a fast one. */
const LOOK_FOR_MS = 20_000;

/** Injects the planned faults in order. The target depends on which processes are up, so it is recorded. */
export async function runNemesis(
  stage: Stage,
  planned: readonly PlannedFault[],
  records: FaultRecord[],
  signal: AbortSignal,
): Promise<void> {
  const faults = faultsFor(stage.store);
  const later: Promise<void>[] = [];
  await pause(Math.max(0, stage.startAtMs - monotonicMs()));
  for (const each of planned) {
    if (signal.aborted) break;
    await pause(each.gapMs);
    await strike(
      inOrderOf(faults, each),
      { stage, planned: each, later: (work) => void later.push(work) },
      records,
      signal,
    );
  }
  await Promise.all(later);
}

/** The planned fault first, then the others that follow it in the list. */
function inOrderOf(faults: readonly Fault[], { kind }: PlannedFault): readonly Fault[] {
  const at = faults.findIndex((fault) => fault.kind === kind);
  const others = [...faults.slice(at + 1), ...faults.slice(0, at)];
  // A clock jump always finds a target. As a substitute it would always be injected, and the faults after it in the list never.
  return [faults[at]!, ...others.filter((fault) => fault.kind !== 'clock-jump')];
}

async function strike(
  [first, ...others]: readonly Fault[],
  run: Omit<FaultRun, 'record'>,
  records: FaultRecord[],
  signal: AbortSignal,
): Promise<void> {
  const patientUntilMs = monotonicMs() + LOOK_FOR_MS;
  while (!signal.aborted) {
    const candidates = monotonicMs() < patientUntilMs ? [first!] : [first!, ...others];
    for (const fault of candidates) {
      const fromMs = monotonicMs();
      const { number, kind } = run.planned;
      const detail = fault.kind === kind ? '' : `instead of ${kind}`;
      const record: FaultRecord = { number, kind: fault.kind, target: '-', fromMs, toMs: fromMs, detail };
      if ((await fault.act({ ...run, record })) === 'nobody') continue;
      records.push(record);
      return;
    }
    await pause(LOOK_AGAIN_MS);
  }
}
