import { DEFAULT_LOOP_SETTINGS } from '../../domain/policy/loop-settings.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { restAfterLoop } from '../../domain/identity/session-ended.ts';
import { argumentSignatures, targetSignature } from '../../gate/loop/argument-signature.ts';
import { rememberAttempt, type Remembered } from '../../gate/loop/detect-stall.ts';
import { costOfCall, endOfAttempt } from '../../gate/loop/end-of-attempt.ts';
import type { SettledAttempt } from '../../domain/ports/call-requests.ts';
import type { DeliveredCall } from '../../domain/ports/plane.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { openHistory, shortSignature, toolTag } from '../../domain/call/history.ts';
import type { SettlementFacts } from './encode-audit.ts';

/**
 * Makes the entry of this call in the run's history, which loop detection compares later calls with, and the cost that the session adds up.
 */
export function attemptOf({ delivery }: DeliveredCall, outcome: Outcome, facts: SettlementFacts): SettledAttempt {
  const { tool } = facts;
  const { effective, target } = signaturesOf(delivery, facts);
  const isCompared =
    delivery.watched || outcome.kind !== 'ok' || effective !== undefined || delivery.history !== undefined;
  const { ending, result } = isCompared ? endSafely(outcome, tool) : NOT_COMPARED;
  const attempt: Writable<SettledAttempt> = {
    session: delivery.session,
    run: delivery.run,
    ending: ending === 'open' ? 'refused' : ending,
  };
  const cost = costOfCall(outcome, tool);
  if (result !== undefined) attempt.result = result;
  if (effective !== undefined) attempt.effective = effective;
  if (target !== undefined) attempt.target = target;
  if (cost !== 0) attempt.cost = cost;
  if (delivery.history !== undefined) Object.assign(attempt, remembered(delivery, attempt, facts));
  const restMs = restAfterLoop(outcome);
  if (restMs !== undefined) attempt.endsRun = { restMs };
  return attempt;
}

/** Signatures of the arguments that ran. A call refused before its arguments were read has none. */
function signaturesOf(
  { tool: id, runState }: DeliveredCall['delivery'],
  { tool, arguments: args, gate }: SettlementFacts,
): { readonly effective?: string | undefined; readonly target?: string | undefined } {
  const changed = gate?.effective;
  if (args === undefined)
    return changed === undefined ? NO_SIGNATURES : { effective: shortSignature(bodyDigest(id, changed)) };
  const { effective } = argumentSignatures({ id, effect: tool?.effect }, args, changed);
  const target = tool === undefined ? undefined : targetSignature(tool, args, runState.toolSequence);
  return { effective, target };
}

const NO_SIGNATURES = Object.freeze({});

function remembered(
  { history, runState, tool, bodyDigest: digest, acceptedAt }: DeliveredCall['delivery'],
  attempt: SettledAttempt,
  { loops = DEFAULT_LOOP_SETTINGS }: SettlementFacts,
): Remembered {
  const tried = { tool: toolTag(tool), raw: shortSignature(digest), at: acceptedAt, ...attempt };
  return rememberAttempt(openHistory(history!, runState.sequence), tried, loops);
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] };
type EndOfAttempt = ReturnType<typeof endOfAttempt>;

/** Used when no later call is compared with this attempt: the tool's result is then not examined. */
const NOT_COMPARED: EndOfAttempt = { ending: 'ok' };

/** Examines the outcome. If that throws, the attempt is recorded as `ok` or `failed` without a result; the call's outcome stays. */
function endSafely(outcome: Outcome, tool: SettlementFacts['tool']): EndOfAttempt {
  try {
    return endOfAttempt(outcome, tool);
  } catch {
    return { ending: outcome.kind === 'ok' ? 'ok' : 'failed' };
  }
}
