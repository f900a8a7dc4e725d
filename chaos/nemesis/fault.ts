import type { SeededRandom } from '../workload/seeded-random.ts';
import type { Stage } from '../stage/stage.ts';

/** The kind by which the checks recognise these stops: a late start after one of them is never excused. */
export const STOP_AT_SEND = 'stop-at-send';

/** A fault that was injected into the run. Both times are monotonic; `toMs` is when it was over. */
export interface FaultRecord {
  readonly number: number;
  readonly kind: string;
  readonly target: string;
  /** Pid of the process that was hit, if the fault hit one. */
  readonly pid?: number;
  readonly fromMs: number;
  toMs: number;
  detail: string;
}

/** A fault that is drawn from the seed before the run: its kind, its target and its strength. */
export interface PlannedFault {
  readonly number: number;
  readonly kind: string;
  /** 0 ≤ n < 1: selects the target among those that can be hit. */
  readonly aim: number;
  /** 0 ≤ n < 1: how long, or how far. */
  readonly force: number;
  /** Pause after the previous fault. */
  readonly gapMs: number;
}

export interface FaultRun {
  readonly stage: Stage;
  readonly planned: PlannedFault;
  readonly record: FaultRecord;
  /** Registers work that ends later. The run does not end before it. */
  later(work: Promise<void>): void;
}

export interface Fault {
  readonly kind: string;
  readonly weight: number;
  readonly about: string;
  /** `nobody`: no possible target is up, so nothing was done. The caller tries again in a moment, at last with other faults. */
  act(run: FaultRun): Promise<'done' | 'nobody'>;
}

export function planFaults(
  faults: readonly Fault[],
  count: number,
  gapMs: number,
  random: SeededRandom,
): PlannedFault[] {
  const weights = faults.map(({ kind, weight }) => [kind, weight] as const);
  return Array.from({ length: count }, (_, number) => ({
    number,
    // Every kind occurs at least once if there are enough faults.
    kind: faults[number]?.kind ?? random.weighted(weights),
    aim: random.next(),
    force: random.next(),
    gapMs: Math.round(gapMs * (0.4 + 1.2 * random.next())),
  }));
}
