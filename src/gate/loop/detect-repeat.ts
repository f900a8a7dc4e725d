import type { Rungs } from '../../domain/loop-settings.ts';
import { climb, type Detect, type Finding } from './finding.ts';
import { OPEN, type LoopWindow } from './loop-window.ts';

/** A timer that fires a little early still keeps its cadence. */
const CADENCE_SLACK = 0.9;

/** The same call again. Other calls in between change nothing; another result does. */
export const detectRepeat: Detect = (window, settings, tool) => {
  const { poll } = tool;
  const rungs = poll === undefined ? settings.repeat : settings.poll;
  if (rungs === false || (window.same === 0 && !window.blockedSame)) return undefined;
  const paceMs = poll === undefined ? settings.paceMs : poll.everyMs * CADENCE_SLACK;
  const found = repeatsOf(window, window.raw, window.ownRaw, rungs, paceMs, poll !== undefined);
  if (!window.rewritten || found?.level === 'block') return found;
  return repeatsOf(window, window.effective, window.ownEffective, rungs, paceMs, poll !== undefined) ?? found;
};

/** Whoever waits as long as the tool asks for is not in a loop, however often the answer is the same. */
export function keepsCadence(window: LoopWindow, everyMs: number): boolean {
  return window.ownAt - window.lastSameAt >= everyMs * CADENCE_SLACK;
}

function repeatsOf(
  window: LoopWindow,
  signatures: Float64Array,
  own: number,
  rungs: Rungs,
  paceMs: number,
  isPoll: boolean,
): Finding | undefined {
  const { result, at, state } = window;
  const detector = isPoll ? 'poll' : 'repeat';
  let all = 0;
  let same = window.blockedBy[detector];
  let seen = same;
  let newest: number | undefined;
  let isSame = true;
  let laterAt = -Infinity;
  for (let index = window.length - 1; index >= 0; index -= 1) {
    if (signatures[index] !== own) continue;
    const step = laterAt - at[index]! < paceMs ? 1 : 0;
    laterAt = at[index]!;
    all += step;
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
  const found = climb(rungs, detector, same, seen);
  if (found !== undefined || isPoll || all !== 2 * rungs.warn || seen === all) return found;
  // Results that differ may be progress, or carry something volatile we do not know: told once, never blocked.
  return { detector: 'repeat', level: 'warn', count: all, changing: true };
}
