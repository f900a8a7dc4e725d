import type { SeededRandom } from '../workload/seeded-random.ts';
import type { Stage } from '../stage/stage.ts';

/** The checks know these stops by their kind: none of their late starts is excused. */
export const STOP_AT_SEND = 'stop-at-send';

/** What was done to the run, and when. Both times are monotonic; `toMs` is when it was over. */
export interface FaultRecord {
  readonly number: number;
  readonly kind: string;
  readonly target: string;
  /** Of the process it was done to, where it was done to one. */
  readonly pid?: number;
  readonly fromMs: number;
  toMs: number;
  detail: string;
}

/** Drawn from the seed before the run: what, at whom, how hard. */
export interface PlannedFault {
  readonly number: number;
  readonly kind: string;
  /** 0 ≤ n < 1: which of those that can be hit. */
  readonly aim: number;
  /** 0 ≤ n < 1: how long, how far. */
  readonly force: number;
  /** After the one before. */
  readonly gapMs: number;
}

export interface FaultRun {
  readonly stage: Stage;
  readonly planned: PlannedFault;
  readonly record: FaultRecord;
  /** For what comes back later: the run does not end before it. */
  later(work: Promise<void>): void;
}

export interface Fault {
  readonly kind: string;
  readonly weight: number;
  readonly about: string;
  /** Nobody there to hit: try another one in a moment. */
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
    // Every kind at least once, where there are enough.
    kind: faults[number]?.kind ?? random.weighted(weights),
    aim: random.next(),
    force: random.next(),
    gapMs: Math.round(gapMs * (0.4 + 1.2 * random.next())),
  }));
}
