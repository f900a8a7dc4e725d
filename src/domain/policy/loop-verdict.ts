export const DETECTORS = [
  'repeat',
  'poll',
  'cycle',
  'same-failure',
  'any-failure',
  'unknown-tool',
  'breaker',
  'in-flight',
  /** Exactly the same call again and again, with different results. */
  'changing',
  /** Different content is written to the same target again and again. */
  'same-target',
  /** Runs of one session that repeat the same calls without progress, each of them too short to be stopped. */
  'session',
  /** Too many calls were blocked before: the run has ended. */
  'ended',
  'calls-per-run',
  'calls-per-tool',
  'wall-time',
  'cost',
] as const;
export type Detector = (typeof DETECTORS)[number];

export type BlockScope =
  /** Only this call. */
  | 'call'
  /** This call and the calls that belong to the same loop: they were blocked before and still are. */
  | 'pattern'
  /** Every call of this run. */
  | 'run';

export type LoopCode = 'LOOP_BLOCKED' | 'RUN_ENDED_BY_LOOP' | 'BUDGET_SPENT';

export interface LoopWarning {
  readonly kind: 'warn';
  readonly detector: Detector;
  readonly count: number;
  /** Text for the model, shown next to the result. */
  readonly message: string;
}

export interface LoopBlock {
  readonly kind: 'block';
  readonly code: LoopCode;
  readonly scope: BlockScope;
  readonly detector: Detector;
  readonly count: number;
  /** Number of calls in the cycle that was found with this call. */
  readonly period?: number;
  /** Only if the run is ended: how long its conversation gets no new run. */
  readonly restMs?: number;
  /** Text for the model, instead of a result. */
  readonly message: string;
}

export type LoopVerdict = { readonly kind: 'pass' } | LoopWarning | LoopBlock;

export const PASS: LoopVerdict = Object.freeze({ kind: 'pass' });
