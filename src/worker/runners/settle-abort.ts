import type { RunEnding } from '../../domain/ports/tool-runner.ts';

export type AbortReason = 'timed-out' | 'aborted';

/** The value of `ctx.signal.reason` inside the tool. */
export function abortError(why: AbortReason): Error {
  const error = new Error(why === 'timed-out' ? 'The time for this call is up.' : 'This call was aborted.');
  error.name = why === 'timed-out' ? 'TimeoutError' : 'AbortError';
  return error;
}

/**
 * The ending of a run that was asked to stop. After its timeout it is `timed-out`, whatever the run reports. An aborted run that still
 * finished keeps its own ending. An aborted run that threw or crashed did so because of the abort, so it is `aborted`.
 */
export function endingAfterAbort(why: AbortReason, ending: RunEnding): RunEnding {
  if (why === 'timed-out') return { kind: 'timed-out' };
  return ending.kind === 'threw' || ending.kind === 'crashed' ? { kind: 'aborted' } : ending;
}
