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
  /** The run has ended, because too many of its calls were blocked. */
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
  /** All calls of the same kind: all calls of a loop, once one of them was blocked, or all calls of a tool whose budget is used up. */
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
  /** Present only if this ends the run: how long its conversation gets no new run. */
  readonly restMs?: number;
  /** Text for the model, instead of a result. */
  readonly message: string;
}

export type LoopVerdict = { readonly kind: 'pass' } | LoopWarning | LoopBlock;

export const PASS: LoopVerdict = Object.freeze({ kind: 'pass' });
