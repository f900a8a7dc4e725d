import { RUN_ENDED_ADVICE } from '../../domain/gate-errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { LONGEST_CYCLE } from '../../domain/loop-settings.ts';
import { codeOf } from '../../wire/history.ts';
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
  /** The very same call again and again, with results that differ. */
  'changing',
  /** Something else is written to the same target again and again. */
  'same-target',
  /** Runs of one session that repeat the same without progress, each for itself too short to be stopped. */
  'session',
  /** Too many blocked calls before: the run is over. */
  'ended',
  'calls-per-run',
  'calls-per-tool',
  'wall-time',
  'cost',
] as const;
export type Detector = (typeof DETECTORS)[number];

export type BlockScope =
  /** This call. */
  | 'call'
  /** This call and what belongs to it: blocked before, and still. */
  | 'pattern'
  /** Everything in this run. */
  | 'run';

export type LoopCode = 'LOOP_BLOCKED' | 'RUN_ENDED_BY_LOOP' | 'BUDGET_SPENT';

export interface LoopWarning {
  readonly kind: 'warn';
  readonly detector: Detector;
  readonly count: number;
  /** For the model, beside the result. */
  readonly message: string;
}

export interface LoopBlock {
  readonly kind: 'block';
  readonly code: LoopCode;
  readonly scope: BlockScope;
  readonly detector: Detector;
  readonly count: number;
  /** Of the circle that was found with this very call. */
  readonly period?: number;
  /** Only where the run is ended: for so long its conversation gets no new run. */
  readonly restMs?: number;
  /** For the model, instead of a result. */
  readonly message: string;
}

export type LoopVerdict = { readonly kind: 'pass' } | LoopWarning | LoopBlock;

export const PASS: LoopVerdict = Object.freeze({ kind: 'pass' });

/** The answer to every call in a run that was ended before. It says nothing of a rest: that began with the end of the run. */
export const RUN_ENDED: LoopBlock = Object.freeze({
  kind: 'block',
  code: 'RUN_ENDED_BY_LOOP',
  scope: 'run',
  detector: 'ended',
  count: 0,
  message: RUN_ENDED_ADVICE,
});

/** The facts of the outcome that a block makes. The attempt's mark is read from them: see `endOfAttempt`. */
export function factsOfBlock({ message, detector, scope, count, period, restMs }: LoopBlock): JsonObject {
  const more = { ...(period === undefined ? {} : { period }), ...(restMs === undefined ? {} : { restMs }) };
  return { message, detector, scope, count, ...more };
}

/** What a blocked attempt has as its result: which detector blocked it, and whether a circle ended there. */
export function blockMark(detector: string, period: number): string {
  return signatureOf(`blocked\0${detector}\0${period}`);
}

export interface BlockMark {
  readonly detector: Detector;
  readonly period: number;
  /**
   * A spent budget and a call whose results differ are no step towards the end of the run; duplicates sent at once are one only in a
   * mass.
   */
  readonly step: 'full' | 'small' | 'none';
}

const NO_STEP: readonly Detector[] = ['calls-per-run', 'calls-per-tool', 'wall-time', 'cost', 'changing'];

const MARKS: ReadonlyMap<number, BlockMark> = new Map(
  DETECTORS.flatMap((detector) => {
    const step = NO_STEP.includes(detector) ? 'none' : detector === 'in-flight' ? 'small' : 'full';
    const periods = Array.from({ length: LONGEST_CYCLE + 1 }, (_, period) => period);
    return periods.map((period) => [codeOf(blockMark(detector, period)), { detector, period, step }] as const);
  }),
);
const PLAIN_BLOCK: BlockMark = { detector: 'repeat', period: 0, step: 'full' };

/** A block whose mark is lost was one all the same. */
export function readBlockMark(result: number): BlockMark {
  return MARKS.get(result) ?? PLAIN_BLOCK;
}
