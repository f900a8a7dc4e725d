import type { Outcome } from '../../domain/outcome.ts';
import { costOfCall, endOfAttempt } from '../../gate/loop/end-of-attempt.ts';
import type { SettledAttempt } from '../../ports/call-store.ts';
import type { DeliveredCall } from '../../ports/plane.ts';
import { bodyDigest } from '../../wire/digest.ts';
import { shortSignature } from '../../wire/history.ts';
import type { SettlementFacts } from './encode-audit.ts';

/** What the run's history remembers of the call. */
export function attemptOf(
  { delivery }: DeliveredCall,
  outcome: Outcome,
  { tool, gate }: SettlementFacts,
): SettledAttempt {
  const { session, run } = delivery;
  const { ending, result } = endSafely(outcome, tool);
  const cost = costOfCall(outcome, tool);
  return {
    session,
    run,
    ending: ending === 'open' ? 'refused' : ending,
    ...(result === undefined ? undefined : { result }),
    ...(gate?.effective === undefined
      ? undefined
      : { effective: shortSignature(bodyDigest(delivery.tool, gate.effective)) }),
    ...(cost === 0 ? undefined : { cost }),
    ...(outcome.error?.code === 'RUN_ENDED_BY_LOOP' ? { endsRun: true } : undefined),
  };
}

/** What cannot be remembered changes nothing about the result. */
function endSafely(outcome: Outcome, tool: SettlementFacts['tool']): ReturnType<typeof endOfAttempt> {
  try {
    return endOfAttempt(outcome, tool);
  } catch {
    return { ending: outcome.kind === 'ok' ? 'ok' : 'failed' };
  }
}
