import type { Attempt } from '../../domain/call/attempt.ts';
import type { Outcome, OutcomeKind } from '../../domain/outcome/outcome.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { COST_UNIT } from './check-budgets.ts';
import { failureClass, failureSignature } from './failure-class.ts';
import { DETECTORS } from '../../domain/policy/loop-verdict.ts';
import { blockMark } from './loop-verdict.ts';
import { resultSignature } from './result-signature.ts';

/** The weight of each outcome kind. `neutral` outcomes say nothing about the call itself: it may succeed if it is sent again. */
const WEIGHT_OF_KIND: Readonly<Record<OutcomeKind, 'ok' | 'neutral' | 'failed' | 'refused'>> = {
  ok: 'ok',
  cancelled: 'neutral',
  expired: 'neutral',
  stale: 'neutral',
  unauthenticated: 'neutral',
  overloaded: 'neutral',
  conflict: 'neutral',
  failed: 'failed',
  exception: 'failed',
  'timed-out': 'failed',
  crashed: 'failed',
  indeterminate: 'failed',
  denied: 'refused',
  blocked: 'refused',
  invalid: 'refused',
  'unknown-tool': 'refused',
};

/** The ending and result signature that settle adds to the attempt. `tool` is absent if no tool of that name exists here. */
export function endOfAttempt(
  outcome: Outcome,
  tool: Pick<ToolDeclaration, 'progress'> = {},
): Pick<Attempt, 'ending' | 'result'> {
  const { kind } = outcome;
  const weight = WEIGHT_OF_KIND[kind];
  if (weight === 'ok') return { ending: 'ok', result: resultSignature(outcome, tool) };
  if (weight === 'neutral') return { ending: 'refused' };
  const mark = kind === 'blocked' ? markOf(outcome) : undefined;
  if (mark !== undefined) return { ending: 'blocked', result: mark };
  return { ending: weight, result: failureSignature(failureClass(outcome)) };
}

/**
 * The mark for a call that loop detection or a budget blocked. Undefined for a call that a hook blocked: loop detection counts that as a
 * refusal.
 */
function markOf({ error }: Outcome): string | undefined {
  const detector = error?.facts?.['detector'];
  const period = error?.facts?.['period'];
  if (typeof detector !== 'string' || !(DETECTORS as readonly string[]).includes(detector)) return undefined;
  return blockMark(detector, typeof period === 'number' ? period : 0);
}

/**
 * Cost in millionths of the tool's unit. The declared cost counts only if the tool reported no cost for this call. A call that did not run
 * costs nothing.
 */
export function costOfCall(outcome: Outcome, tool: Pick<ToolDeclaration, 'cost'> = {}): number {
  if (outcome.executed === 'no') return 0;
  return Math.round((outcome.writeBacks?.cost ?? tool.cost ?? 0) * COST_UNIT);
}
