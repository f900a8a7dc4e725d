import type { Attempt } from '../../domain/attempt.ts';
import type { Outcome, OutcomeKind } from '../../domain/outcome.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';
import { COST_UNIT } from './check-budgets.ts';
import { failureClass, failureSignature } from './failure-class.ts';
import { blockMark, DETECTORS } from './loop-verdict.ts';
import { resultSignature } from './result-signature.ts';

/** They say nothing about the call: sent again, it may well work. */
const NEUTRAL: readonly OutcomeKind[] = ['cancelled', 'expired', 'stale', 'unauthenticated', 'overloaded', 'conflict'];
const FAILURES: readonly OutcomeKind[] = ['failed', 'exception', 'timed-out', 'crashed', 'indeterminate'];

/** What settle adds to the attempt. Absent tool: there is none of that name here. */
export function endOfAttempt(
  outcome: Outcome,
  tool: Pick<ToolDeclaration, 'progress'> = {},
): Pick<Attempt, 'ending' | 'result'> {
  const { kind } = outcome;
  if (kind === 'ok') return { ending: 'ok', result: resultSignature(outcome, tool) };
  if (NEUTRAL.includes(kind)) return { ending: 'refused' };
  const mark = kind === 'blocked' ? markOf(outcome) : undefined;
  if (mark !== undefined) return { ending: 'blocked', result: mark };
  const result = failureSignature(failureClass(outcome));
  return { ending: FAILURES.includes(kind) ? 'failed' : 'refused', result };
}

/** Undefined for what a hook has blocked: to the detector that is a refusal. */
function markOf({ error }: Outcome): string | undefined {
  const detector = error?.facts?.['detector'];
  const period = error?.facts?.['period'];
  if (typeof detector !== 'string' || !(DETECTORS as readonly string[]).includes(detector)) return undefined;
  return blockMark(detector, typeof period === 'number' ? period : 0);
}

/** In millionths of the tool's unit. What the tool counted itself wins over what it declared; what did not run costs nothing. */
export function costOfCall(outcome: Outcome, tool: Pick<ToolDeclaration, 'cost'> = {}): number {
  if (outcome.executed === 'no') return 0;
  return Math.round((outcome.writeBacks?.cost ?? tool.cost ?? 0) * COST_UNIT);
}
