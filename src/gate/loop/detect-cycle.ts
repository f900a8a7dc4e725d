import { MAX_CYCLE } from '../../domain/policy/loop-settings.ts';
import { climb, type Detect, type Finding } from './finding.ts';
import { OPEN, type LoopWindow } from './loop-window.ts';
import type { EffectiveLoopSettings } from './stricter.ts';

/** Detects two to eight calls that repeat in the same order with the same results, if this call would continue the cycle. */
export const detectCycle: Detect = (window, settings) => {
  if (settings.cycle === false || window.same === 0) return undefined;
  const found = findCycle(window, window.raw, window.ownRaw, settings);
  if (found?.level === 'block') return found;
  const second = window.rewritten ? findCycle(window, window.effective, window.ownEffective, settings) : undefined;
  if (second?.level === 'block') return second;
  return findBlockedCycle(window) ?? found ?? second;
};

function findCycle(
  window: LoopWindow,
  signatures: Float64Array,
  own: number,
  settings: EffectiveLoopSettings,
): Finding | undefined {
  const { length } = window;
  let warning: Finding | undefined;
  let shorter = 0;
  let shorterCalls = 0;
  for (let period = 2; period <= MAX_CYCLE && period * 2 <= length; period += 1) {
    if (signatures[length - period] !== own || !follow(window, signatures, period, settings.paceMs)) continue;
    // A B A B is also a cycle of four, but it was already found as a cycle of two.
    if (shorter > 0 && period % shorter === 0 && followed.calls <= shorterCalls + period) continue;
    [shorter, shorterCalls] = [period, followed.calls];
    const found = judge(period, settings);
    if (found?.level === 'block') return found;
    warning ??= found;
  }
  return warning;
}

/** Output of `follow`: the calls of the cycle so far, how many of them are still open, and the pauses between them. */
const followed = { calls: 0, open: 0, pauses: 0 };

/**
 * Follows a possible cycle backwards through the window. Returns false if there is no cycle, or if it consists of one repeated call, which
 * the repeat detector handles.
 */
function follow(window: LoopWindow, signatures: Float64Array, period: number, paceMs: number): boolean {
  const { length, result, at, state } = window;
  let calls = period;
  let open = 0;
  let pauses = 0;
  let varies = false;
  for (let index = length - 1; index >= period; index -= 1) {
    const before = index - period;
    const isOpen = state[index] === OPEN || state[before] === OPEN;
    if (signatures[index] !== signatures[before] || (!isOpen && result[index] !== result[before])) break;
    varies ||= signatures[index] !== signatures[index - 1] || isOtherResult(window, index);
    if (state[index] === OPEN) open += 1;
    if (at[index]! - at[index - 1]! >= paceMs) pauses += 1;
    calls += 1;
  }
  followed.calls = calls;
  followed.open = open;
  followed.pauses = pauses;
  return varies;
}

function judge(period: number, { cycle, rounds }: EffectiveLoopSettings): Finding | undefined {
  if (cycle === false) return undefined;
  const rungs = {
    warn: Math.max(cycle.warn, rounds.warn * period),
    block: Math.max(cycle.block, rounds.block * period),
  };
  // A round with a pause in it is not counted: the caller is waiting for something.
  const seen = followed.calls - followed.pauses * period;
  const found = climb(rungs, 'cycle', seen - followed.open, seen);
  return found === undefined ? undefined : { ...found, period };
}

function isOtherResult({ state, result }: LoopWindow, index: number): boolean {
  return state[index] !== OPEN && state[index - 1] !== OPEN && result[index] !== result[index - 1];
}

/** Blocks a call that belongs to a cycle that was blocked before. The order of its calls no longer matters. */
function findBlockedCycle(window: LoopWindow): Finding | undefined {
  for (let cycle = 0; cycle < window.cycles; cycle += 1) {
    const end = window.cycleEnd[cycle]!;
    for (let index = Math.max(0, end - window.cyclePeriod[cycle]!); index < end; index += 1) {
      if (window.raw[index] === window.ownRaw || window.effective[index] === window.ownEffective) {
        return { detector: 'cycle', level: 'block', count: window.blocked + 1 };
      }
    }
  }
  return undefined;
}
