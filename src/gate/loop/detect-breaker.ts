import { HISTORY_LENGTH } from '../../domain/call/attempt.ts';
import { MAX_CYCLE } from '../../domain/policy/loop-settings.ts';
import type { Detect, Finding } from './finding.ts';
import { OPEN, type LoopWindow } from './loop-window.ts';

/** The same result of the same call may be useful twice, for example to check it again. From the third time on, it brings nothing new. */
const MAX_USEFUL_REPEATS = 2;
const SLOTS = 2 * HISTORY_LENGTH;

/**
 * Working memory of one synchronous detection. `isTaken` is cleared at its start. The other arrays keep old values, so a slot is read only
 * after `slotOf` has taken it.
 */
const isTaken = new Uint8Array(SLOTS);
const signatureAt = new Float64Array(SLOTS);
const resultAt = new Float64Array(SLOTS);
const lastAt = new Float64Array(SLOTS);
const streakAt = new Uint8Array(SLOTS);
const mixed = new Float64Array(1);
const halves = new Uint32Array(mixed.buffer);

/**
 * The last resort against a few calls that are repeated in any order without a new result. Their repetitions are added up, so it also finds
 * loops in which no other detector finds a pattern. More than eight such calls are no loop: the agent goes through many different things.
 */
export const detectBreaker: Detect = (window, settings) => {
  if (settings.breaker === false || (window.same <= MAX_USEFUL_REPEATS && !window.blockedSame)) return undefined;
  const found = breakOn(window, window.raw, window.ownRaw, settings.breaker, settings.paceMs);
  if (found !== undefined || !window.rewritten) return found;
  return breakOn(window, window.effective, window.ownEffective, settings.breaker, settings.paceMs);
};

function breakOn(
  window: LoopWindow,
  signatures: Float64Array,
  own: number,
  max: number,
  paceMs: number,
): Finding | undefined {
  const { length, result, at, state } = window;
  isTaken.fill(0);
  let idle = window.blockedBy.breaker;
  let calls = 0;
  for (let index = 0; index < length; index += 1) {
    if (state[index] === OPEN) continue;
    const slot = slotOf(signatures[index]!);
    const isSame = resultAt[slot] === result[index];
    const isSlow = isSame && at[index]! - lastAt[slot]! >= paceMs;
    resultAt[slot] = result[index]!;
    lastAt[slot] = at[index]!;
    if (isSlow) continue;
    streakAt[slot] = isSame ? streakAt[slot]! + 1 : 1;
    if (streakAt[slot]! <= MAX_USEFUL_REPEATS) continue;
    if (streakAt[slot] === MAX_USEFUL_REPEATS + 1) calls += 1;
    idle += 1;
  }
  if (idle < max || calls > MAX_CYCLE) return undefined;
  // The call in question must be one of the repeating calls.
  const isOwn = window.blockedSame || streakAt[slotOf(own)]! > MAX_USEFUL_REPEATS;
  return isOwn ? { detector: 'breaker', level: 'block', count: idle } : undefined;
}

/**
 * Slot of a signature in the hash table. The table has 256 slots, twice the number of attempts: a free slot always exists and is mostly
 * found at once.
 */
function slotOf(signature: number): number {
  mixed[0] = signature;
  let slot = Math.imul(halves[0]! ^ Math.imul(halves[1]!, 0x85ebca6b), 0x9e3779b1) >>> 24;
  for (; isTaken[slot] !== 0; slot = (slot + 1) % SLOTS) if (signatureAt[slot] === signature) return slot;
  isTaken[slot] = 1;
  signatureAt[slot] = signature;
  resultAt[slot] = NaN;
  streakAt[slot] = 0;
  return slot;
}
