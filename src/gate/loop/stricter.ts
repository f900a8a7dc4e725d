import { COUNTED_LOOP_ENDS } from '../../domain/call/attempt.ts';
import { CYCLE_ROUNDS, RUNG_NAMES, type LoopSettings, type LoopLevels } from '../../domain/policy/loop-settings.ts';

/** The settings that apply to one run. */
export interface EffectiveLoopSettings extends LoopSettings {
  readonly rounds: LoopLevels;
}

/** Minimum thresholds after tightening. Three tries of something that fails stay possible, however many runs of the session were ended. */
const MIN_BLOCK = 5;
const MIN_WARN = 3;
const MIN_END = 3;

/** Cache by settings object, which never changes. The list has at most one entry per number of ended runs. */
const known = new WeakMap<LoopSettings, (EffectiveLoopSettings | undefined)[]>();

/**
 * Tightens the settings: each run of the session that loop detection ended recently halves the thresholds of the next run, at most twice.
 * Opening a new run must not reset detection.
 */
export function stricter(settings: LoopSettings, endedRuns: number): EffectiveLoopSettings {
  const step = Math.min(endedRuns, COUNTED_LOOP_ENDS);
  let held = known.get(settings);
  if (held === undefined) known.set(settings, (held = []));
  return (held[step] ??= tighten(settings, step));
}

function tighten(settings: LoopSettings, step: number): EffectiveLoopSettings {
  if (step === 0) return { ...settings, rounds: CYCLE_ROUNDS };
  const tightened: Record<string, unknown> = { ...settings };
  for (const name of RUNG_NAMES) {
    const rungs = settings[name];
    // Duplicates that are sent at once do not show that an earlier loop continues, so their thresholds stay.
    if (rungs !== false && name !== 'inFlight') tightened[name] = tightenRungs(rungs, step);
  }
  return {
    ...(tightened as unknown as LoopSettings),
    breaker: settings.breaker === false ? false : less(settings.breaker, step, MIN_BLOCK),
    endRun: less(settings.endRun, step, MIN_END),
    rounds: { warn: CYCLE_ROUNDS.warn - 1, block: CYCLE_ROUNDS.block - 1 },
  };
}

function tightenRungs({ warn, block }: LoopLevels, step: number): LoopLevels {
  const tightBlock = less(block, step, MIN_BLOCK);
  return { warn: Math.min(less(warn, step, MIN_WARN), tightBlock - 1), block: tightBlock };
}

/** Halves `number` once per step, down to `min`, but never returns more than `number`. */
function less(number: number, step: number, min: number): number {
  return Math.min(number, Math.max(min, Math.ceil(number / 2 ** step)));
}
