import type { Peers } from '../../ports/plane.ts';

/** So many times each of those that do not serve a tool may be handed its call: then it ends, and its caller may try again. */
const MOST_ROUNDS = 1000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * How long to keep a call that this worker does not serve before it is handed back. Undefined: not at all, it ends here.
 *
 * Whoever waits longest is given the next call, so within one round of those that do not serve it the call meets a worker that does,
 * unless all of these are busy. So the first round is not slowed down; before each further one it is kept for a while, longer each
 * time, so that it costs the store little while it waits. In all it is handed on at most a hundred times a second.
 */
export function paceHandBack(handedBack: number, { serving, notServing }: Peers): number | undefined {
  if (serving === 0) return undefined;
  const round = Math.floor(handedBack / notServing);
  if (round >= MOST_ROUNDS) return undefined;
  if (round === 0 || handedBack % notServing !== 0) return 0;
  const fairMs = FIRST_PAUSE_MS * notServing;
  return Math.min(fairMs * round, Math.max(LONGEST_PAUSE_MS, fairMs));
}
