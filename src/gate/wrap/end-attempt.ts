import { DENIED_RESULT } from '../../domain/call/attempt.ts';
import type { LoopSettings } from '../../domain/policy/loop-settings.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { restAfterLoop } from '../../domain/identity/session-ended.ts';
import { costOfCall, endOfAttempt } from '../loop/end-of-attempt.ts';
import type { LoopFacts } from './gate-parts.ts';
import type { EndedAttempt } from './run-memory.ts';

/**
 * What the run remembers of a call that has its outcome. If the outcome's signature cannot be computed, only `ok` or `failed` is
 * remembered; the caller's result does not change.
 */
export function endedAttempt(outcome: Outcome, tool: LoopFacts, isReadable = true, loops?: LoopSettings): EndedAttempt {
  const { ending, result } = endSafely(outcome, tool);
  const restMs = restAfterLoop(outcome);
  return {
    ending,
    ...(result === undefined || !isReadable ? {} : { result }),
    cost: costOfCall(outcome, tool),
    loops,
    ...(restMs === undefined ? {} : { endsRun: { restMs } }),
  };
}

function endSafely(outcome: Outcome, tool: LoopFacts): ReturnType<typeof endOfAttempt> {
  if (outcome.error?.code === 'APPROVAL_DENIED') return { ending: 'refused', result: DENIED_RESULT };
  try {
    return endOfAttempt(outcome, tool);
  } catch {
    return { ending: outcome.kind === 'ok' ? 'ok' : 'failed' };
  }
}
