import type { Attempt, RunHistory } from '../../domain/call/attempt.ts';
import type { LoopSettings } from '../../domain/policy/loop-settings.ts';
import { codeOf, tagCode } from '../../domain/call/history.ts';
import { climb, type Detect } from './finding.ts';
import { BAD, OPEN, type LoopWindow } from './loop-window.ts';

/**
 * Two equal results of a call prove nothing: the second call may be a check. A new run that makes the call twice does not yet continue the
 * loop of an earlier run.
 */
const MAX_USEFUL_REPEATS = 2;
/** Three equal failures are retries, not yet a loop. */
const TRIES = 3;
/** Factor for the thresholds. Many conversations may share one session, so a session needs more evidence than a run. */
const MORE_EVIDENCE = 2;

/**
 * Detects a loop over several runs of one session, each of them too short to be stopped by itself: opening a new run must not reset
 * detection. Only the third and later repetitions within a run count, and only those are blocked.
 */
export const detectStall: Detect = (window, settings) => {
  const { stalls } = window;
  if (stalls.length === 0 || settings.repeat === false) return undefined;
  const rungs = { warn: MORE_EVIDENCE * settings.repeat.warn, block: MORE_EVIDENCE * settings.repeat.block };
  const total = stalls.reduce((sum, { count, at }) => (window.ownAt - at < settings.decayMs ? sum + count : sum), 0);
  if (total < rungs.warn || !isStalled(window, settings.paceMs)) return undefined;
  return climb(rungs, 'session', total, total);
};

function isStalled(window: LoopWindow, paceMs: number): boolean {
  const { length, raw, effective, tool, result, state, at } = window;
  const codes = new Set(window.stalls.map(({ signature }) => codeOf(signature)));
  const isKnownCall = codes.has(window.ownRaw) || codes.has(window.ownEffective);
  const call = { newest: NaN, count: 0, isOver: !isKnownCall };
  const failure = { newest: NaN, count: 0, isOver: false };
  let laterAt = window.ownAt;
  for (let index = length - 1; index >= 0 && !(call.isOver && failure.isOver); index -= 1) {
    if (state[index] === OPEN) continue;
    const isSame = raw[index] === window.ownRaw || effective[index] === window.ownEffective;
    if (isSame && laterAt - at[index]! >= paceMs) call.isOver = true;
    if (isSame) laterAt = at[index]!;
    if (isSame) countSame(call, result[index]!);
    if (tool[index] !== window.ownTool) continue;
    if (state[index] === BAD) countSame(failure, result[index]!);
    else failure.isOver = true;
  }
  return call.count >= MAX_USEFUL_REPEATS || (failure.count >= TRIES && codes.has(failure.newest));
}

function countSame(streak: { newest: number; count: number; isOver: boolean }, result: number): void {
  if (streak.isOver) return;
  if (streak.count === 0) streak.newest = result;
  else if (streak.newest !== result) {
    streak.isOver = true;
    return;
  }
  streak.count += 1;
}

/** What is stored about an attempt that has ended, in addition to its ending and result. */
export interface Remembered {
  readonly tally?: number;
  /** Signature under which the session counts this attempt: see `Stall`. */
  readonly stall?: string;
}

const NOTHING: Remembered = Object.freeze({});

/**
 * Computes what to store about an attempt that has ended: its tally (how often exactly this call was made) and its stall (set if it brought
 * nothing new). `history` has the attempts before it.
 */
export function rememberAttempt(
  history: RunHistory,
  attempt: Pick<Attempt, 'tool' | 'raw' | 'effective' | 'at' | 'ending' | 'result'>,
  { paceMs, decayMs }: Pick<LoopSettings, 'paceMs' | 'decayMs'>,
): Remembered {
  if (history.length === 0) return NOTHING;
  const [tool, raw] = [tagCode(attempt.tool), codeOf(attempt.raw)];
  const effective = attempt.effective === undefined ? raw : codeOf(attempt.effective);
  const isOk = attempt.ending === 'ok';
  const result = attempt.result === undefined || attempt.ending === 'blocked' ? NaN : codeOf(attempt.result);
  let [tally, lastAt, lastSameAt, same] = [0, -Infinity, -Infinity, 0];
  for (let index = 0; index < history.length; index += 1) {
    const at = history.at(index);
    if (attempt.at - at > decayMs) continue;
    const ending = history.ending(index);
    const isRaw = history.raw(index) === raw;
    if (isRaw) [tally, lastAt] = [Math.max(tally + 1, history.tally(index)), at];
    if (ending === 'open' || ending === 'blocked') continue;
    const isRelated = isOk ? isRaw || history.effective(index) === effective : history.tool(index) === tool;
    if (!isRelated) continue;
    same = history.result(index) === result ? same + 1 : 0;
    lastSameAt = at;
  }
  const isStalled = same >= (isOk ? MAX_USEFUL_REPEATS : TRIES) && attempt.at - lastSameAt < paceMs;
  return {
    // A repetition that comes `paceMs` or more after the previous one does not raise the tally.
    ...(tally === 0 ? {} : { tally: attempt.at - lastAt < paceMs ? tally + 1 : tally }),
    ...(isStalled ? { stall: isOk ? (attempt.effective ?? attempt.raw) : attempt.result! } : {}),
  };
}
