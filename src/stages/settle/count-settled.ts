import type { Plane } from '../../domain/ports/plane.ts';
import type { SettledCall } from '../../domain/ports/staged-calls.ts';

/** Counts a settled call, or logs that this worker had lost it. The store sent the replies in the same step as it wrote the outcome. */
export function countSettled(settled: SettledCall, needs: Pick<Plane, 'log' | 'onSettled'>): void {
  const { delivered, outcome, answer, durationMs } = settled;
  if (answer === 'settled') return needs.onSettled(outcome.kind);
  const { callId, tool } = delivered.delivery;
  const { kind, executed, error } = outcome;
  const facts = { stage: 'settle', callId, tool, outcome: kind, executed, code: error?.code, durationMs, answer };
  needs.log.warn(facts, 'outcome dropped: the call is no longer ours');
}
