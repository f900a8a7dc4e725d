import type { LoopLevels } from '../../domain/policy/loop-settings.ts';
import { climb, type Detect, type Finding } from './finding.ts';
import { OPEN, type LoopWindow } from './loop-window.ts';

/** A timer may fire up to 10 % early and still keeps its cadence. */
const CADENCE_SLACK = 0.9;

/** Detects repetitions of the same call. Other calls in between do not matter; a different result ends the count. */
export const detectRepeat: Detect = (window, settings, tool) => {
  const { poll } = tool;
  const rungs = poll === undefined ? settings.repeat : settings.poll;
  if (rungs === false || (window.same === 0 && !window.blockedSame)) return undefined;
  const paceMs = poll === undefined ? settings.paceMs : poll.everyMs * CADENCE_SLACK;
  const found = repeatsOf(window, window.raw, window.ownRaw, rungs, paceMs, poll !== undefined);
  if (!window.rewritten || found?.level === 'block') return found;
  return repeatsOf(window, window.effective, window.ownEffective, rungs, paceMs, poll !== undefined) ?? found;
};

/** A caller that waits as long as the tool asks for is not in a loop, however often the answer is the same. */
export function keepsCadence(window: LoopWindow, everyMs: number): boolean {
  return window.ownAt - window.lastSameAt >= everyMs * CADENCE_SLACK;
}

function repeatsOf(
  window: LoopWindow,
  signatures: Float64Array,
  own: number,
  rungs: LoopLevels,
  paceMs: number,
  isPoll: boolean,
): Finding | undefined {
  const { result, at, state } = window;
  const detector = isPoll ? 'poll' : 'repeat';
  let same = window.blockedBy[detector];
  let seen = same;
  let newest: number | undefined;
  let isSame = true;
  let laterAt = -Infinity;
  for (let index = window.length - 1; index >= 0; index -= 1) {
    if (signatures[index] !== own) continue;
    const step = laterAt - at[index]! < paceMs ? 1 : 0;
    laterAt = at[index]!;
    if (state[index] === OPEN) {
      if (isSame) seen += step;
      continue;
    }
    if (newest === undefined) newest = result[index]!;
    else if (result[index] !== newest) isSame = false;
    if (!isSame) continue;
    same += step;
    seen += step;
  }
  return climb(rungs, detector, same, seen);
}

/**
 * Thresholds for equal calls with different results. Different results may be progress, or may differ only in a volatile value that was not
 * recognised. A run is never ended because of them.
 */
const CHANGING: LoopLevels = Object.freeze({ warn: 50, block: 200 });

/**
 * Counts repetitions of exactly the same call, whatever the results are. A tool that declares a polling cadence is meant to be called
 * repeatedly and is skipped.
 */
export const detectChanging: Detect = (window, settings, tool) => {
  if (settings.repeat === false || tool.poll !== undefined || window.tally < CHANGING.warn) return undefined;
  const count = window.tallyWithin(settings.paceMs);
  if (count >= CHANGING.block) return { detector: 'changing', level: 'block', count };
  return count > 0 && count % CHANGING.warn === 0 ? { detector: 'changing', level: 'warn', count } : undefined;
};

const WARN_TARGET = 10;

/** Detects that different content is written to the same target again and again. That may be useful work, so the model is only warned. */
export const detectSameTarget: Detect = ({ sameTarget }, { repeat }) =>
  repeat === false || sameTarget === 0 || sameTarget % WARN_TARGET !== 0
    ? undefined
    : { detector: 'same-target', level: 'warn', count: sameTarget };
