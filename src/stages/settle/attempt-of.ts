import type { Outcome } from '../../domain/outcome.ts';
import { restAfterLoop } from '../../domain/session-ended.ts';
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
  const effective = gate?.effective;
  const isCompared = delivery.watched || outcome.kind !== 'ok' || effective !== undefined;
  const { ending, result } = isCompared ? endSafely(outcome, tool) : NOT_COMPARED;
  const attempt: Writable<SettledAttempt> = {
    session: delivery.session,
    run: delivery.run,
    ending: ending === 'open' ? 'refused' : ending,
  };
  const cost = costOfCall(outcome, tool);
  if (result !== undefined) attempt.result = result;
  if (effective !== undefined) attempt.effective = shortSignature(bodyDigest(delivery.tool, effective));
  if (cost !== 0) attempt.cost = cost;
  const restMs = restAfterLoop(outcome);
  if (restMs !== undefined) attempt.endsRun = { restMs };
  return attempt;
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
type EndOfAttempt = ReturnType<typeof endOfAttempt>;

/** No history will show it, so nobody has to look through what the tool gave. */
const NOT_COMPARED: EndOfAttempt = { ending: 'ok' };

/** What cannot be remembered changes nothing about the result. */
function endSafely(outcome: Outcome, tool: SettlementFacts['tool']): EndOfAttempt {
  try {
    return endOfAttempt(outcome, tool);
  } catch {
    return { ending: outcome.kind === 'ok' ? 'ok' : 'failed' };
  }
}
