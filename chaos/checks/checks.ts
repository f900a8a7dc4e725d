import type { History } from '../history/history.ts';
import { traceHistory, type Check, type CheckResult, type Traces } from './check.ts';
import { nothingLost, oneEnding, oneKeyOneCall, oneStep, outlivesReaders, ownReplies, worthwhile } from './endings.ts';
import { cancelled, currentPolicy, liveSession, oneDecision } from './permissions.ts';
import { fenced, inOrder, noSecondStart, poisonEnds, sameBytes } from './starts.ts';
import { drained, gaplessAudit, inTime, nothingLeft, refusedBefore } from './traces-left.ts';

/** All checks, in the order of the design's list. */
export const CHECKS: readonly Check[] = [
  oneEnding,
  noSecondStart,
  liveSession,
  sameBytes,
  nothingLost,
  oneStep,
  fenced,
  oneKeyOneCall,
  oneDecision,
  gaplessAudit,
  inOrder,
  refusedBefore,
  inTime,
  cancelled,
  ownReplies,
  currentPolicy,
  nothingLeft,
  outlivesReaders,
  poisonEnds,
  drained,
  worthwhile,
];

export interface CheckedHistory {
  readonly checks: readonly { readonly id: string; readonly about: string; readonly result: CheckResult }[];
  readonly traces: Traces;
}

export function checkHistory(history: History): CheckedHistory {
  const traces = traceHistory(history);
  return { traces, checks: CHECKS.map((check) => ({ id: check.id, about: check.about, result: check.run(traces) })) };
}
