import type { Check } from './check.ts';
import { nothingLost, oneEnding, oneKeyOneCall, oneStep, outlivesReaders, ownReplies } from './endings.ts';
import { cancelled, currentPolicy, liveSession, oneDecision } from './permissions.ts';
import { fenced, inOrder, noSecondStart, poisonEnds, sameBytes } from './starts.ts';
import { drained, gaplessAudit, inTime, nothingLeft, refusedBefore } from './traces-left.ts';

/** In the order of the design's list. */
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
];
