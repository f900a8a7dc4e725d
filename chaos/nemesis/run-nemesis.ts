import { setTimeout as pause } from 'node:timers/promises';
import type { Stage, StoreName } from '../stage/stage.ts';
import { monotonicMs } from '../workload/monotonic.ts';
import type { Fault, FaultRecord, PlannedFault } from './fault.ts';
import { FAULTS_ON_OWNER, FAULTS_ON_PROCESSES } from './process-faults.ts';
import { FAULTS_ON_REDIS } from './redis-faults.ts';

export function faultsFor(store: StoreName): readonly Fault[] {
  return store === 'redis'
    ? [...FAULTS_ON_PROCESSES, ...FAULTS_ON_REDIS]
    : [...FAULTS_ON_PROCESSES, ...FAULTS_ON_OWNER];
}

const LOOK_AGAIN_MS = 50;
const LOOK_FOR_MS = 15_000;

/** Does what was planned, in that order. Who is hit depends on who is up, so that is written down. */
export async function runNemesis(
  stage: Stage,
  planned: readonly PlannedFault[],
  records: FaultRecord[],
  signal: AbortSignal,
): Promise<void> {
  const faults = new Map(faultsFor(stage.store).map((fault) => [fault.kind, fault]));
  const later: Promise<void>[] = [];
  await pause(Math.max(0, stage.startAtMs - monotonicMs()));
  for (const each of planned) {
    if (signal.aborted) break;
    await pause(each.gapMs);
    const fromMs = monotonicMs();
    const record: FaultRecord = { number: each.number, kind: each.kind, target: '-', fromMs, toMs: fromMs, detail: '' };
    await strike(faults.get(each.kind)!, stage, each, record, later, signal);
    records.push(record);
  }
  await Promise.all(later);
}

async function strike(
  fault: Fault,
  stage: Stage,
  planned: PlannedFault,
  record: FaultRecord,
  later: Promise<void>[],
  signal: AbortSignal,
): Promise<void> {
  const giveUpAtMs = monotonicMs() + LOOK_FOR_MS;
  while (!signal.aborted) {
    Object.assign(record, { fromMs: monotonicMs() });
    const answer = await fault.act({ stage, planned, record, later: (work) => void later.push(work) });
    if (answer === 'done') return;
    if (monotonicMs() > giveUpAtMs) {
      record.detail = 'nobody was there to hit';
      return;
    }
    await pause(LOOK_AGAIN_MS);
  }
}
