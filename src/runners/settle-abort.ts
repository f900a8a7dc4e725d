import type { RunEnding } from '../ports/tool-runner.ts';

export type AbortReason = 'timed-out' | 'aborted';

/** What `ctx.signal.reason` is inside the tool. */
export function abortError(why: AbortReason): Error {
  const error = new Error(why === 'timed-out' ? 'The time for this call is up.' : 'This call was aborted.');
  error.name = why === 'timed-out' ? 'TimeoutError' : 'AbortError';
  return error;
}

/**
 * How a run ended that was told to stop. Past its time it is `timed-out` whatever it says. A run that was aborted
 * and still finished says what it did; one that threw only obeyed.
 */
export function endingAfterAbort(why: AbortReason, ending: RunEnding): RunEnding {
  if (why === 'timed-out') return { kind: 'timed-out' };
  return ending.kind === 'threw' || ending.kind === 'crashed' ? { kind: 'aborted' } : ending;
}
