import { RUN_ENDED_ADVICE } from '../../domain/errors/gate-errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { MAX_CYCLE } from '../../domain/policy/loop-settings.ts';
import { DETECTORS, type Detector, type LoopBlock } from '../../domain/policy/loop-verdict.ts';
import { codeOf } from '../../domain/call/history.ts';
import { signatureOf } from './signature.ts';

/** The answer to every call in a run that has already ended. It has no `restMs`, because the rest period began when the run ended. */
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

/**
 * The result signature that is stored for a blocked attempt. It encodes which detector blocked it, and the length of the cycle that it
 * would have continued (0: none).
 */
export function blockMark(detector: string, period: number): string {
  return signatureOf(`blocked\0${detector}\0${period}`);
}

export interface BlockMark {
  readonly detector: Detector;
  readonly period: number;
  /**
   * How much this block counts towards the end of the run. `none`: a spent budget, or a repeated call whose results differ. `small`:
   * duplicates sent at once, which count only in large numbers. `full`: every other block.
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
