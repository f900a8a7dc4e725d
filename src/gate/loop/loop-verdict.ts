import { RUN_ENDED_ADVICE } from '../../domain/errors/gate-errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { MAX_CYCLE } from '../../domain/policy/loop-settings.ts';
import { codeOf } from '../../domain/call/history.ts';
import { signatureOf } from './signature.ts';

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

/** The answer to every call in a run that was ended before. It has no `restMs`: the rest began when the run was ended. */
export const RUN_ENDED: LoopBlock = Object.freeze({
  kind: 'block',
  code: 'RUN_ENDED_BY_LOOP',
  scope: 'run',
  detector: 'ended',
  count: 0,
  message: RUN_ENDED_ADVICE,
});

/** The facts of a blocked call's outcome. `endOfAttempt` reads the attempt's mark from them. */
export function factsOfBlock({ message, detector, scope, count, period, restMs }: LoopBlock): JsonObject {
  const more = { ...(period === undefined ? {} : { period }), ...(restMs === undefined ? {} : { restMs }) };
  return { message, detector, scope, count, ...more };
}

/** The result that a blocked attempt is stored with: which detector blocked it, and the length of the cycle that ended there (0: none). */
export function blockMark(detector: string, period: number): string {
  return signatureOf(`blocked\0${detector}\0${period}`);
}

export interface BlockMark {
  readonly detector: Detector;
  readonly period: number;
  /**
   * How much this block counts towards the end of the run. `none`: a spent budget, or a call whose results differ. `small`: duplicates sent
   * at once, which count only in large numbers. `full`: every other block.
   */
  readonly step: 'full' | 'small' | 'none';
}

const NO_STEP: readonly Detector[] = ['calls-per-run', 'calls-per-tool', 'wall-time', 'cost', 'changing'];

const MARKS: ReadonlyMap<number, BlockMark> = new Map(
  DETECTORS.flatMap((detector) => {
    const step = NO_STEP.includes(detector) ? 'none' : detector === 'in-flight' ? 'small' : 'full';
    const periods = Array.from({ length: MAX_CYCLE + 1 }, (_, period) => period);
    return periods.map((period) => [codeOf(blockMark(detector, period)), { detector, period, step }] as const);
  }),
);
const PLAIN_BLOCK: BlockMark = { detector: 'repeat', period: 0, step: 'full' };

/** Reads the mark of a blocked attempt. An unknown mark counts as a plain block by the repeat detector. */
export function readBlockMark(result: number): BlockMark {
  return MARKS.get(result) ?? PLAIN_BLOCK;
}
