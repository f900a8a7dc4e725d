import type { Peers } from '../../domain/ports/plane.ts';

/**
 * Max rounds. In one round the call goes once to each worker that does not serve its tool. After that the call ends; its caller may retry.
 */
const MAX_ROUNDS = 1000;
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 250;

/**
 * How long to hold a call that this worker does not serve before handing it back. Undefined: do not hand it back, end it here.
 *
 * The worker that has waited longest gets the next call. So after at most one try on each worker that does not serve the tool (one round),
 * the call reaches one that does, unless all of those are busy. In the first round the call is therefore handed back at once. Before each
 * further round it is held for a while, longer each time, so that it costs the store little. In total it is handed on at most a hundred
 * times a second.
 */
export function paceHandBack(handedBack: number, { serving, notServing }: Peers): number | undefined {
  if (serving === 0) return undefined;
  const round = Math.floor(handedBack / notServing);
  if (round >= MAX_ROUNDS) return undefined;
  if (round === 0 || handedBack % notServing !== 0) return 0;
  const fairMs = FIRST_PAUSE_MS * notServing;
  return Math.min(fairMs * round, Math.max(MAX_PAUSE_MS, fairMs));
}
