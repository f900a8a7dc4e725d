import type { Outcome } from '../../domain/outcome.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';

interface SettledCall {
  readonly delivered: DeliveredCall;
  readonly outcome: Outcome;
  readonly answer: string;
  readonly durationMs: number;
}

/** The replies themselves were sent in the same step as the settlement. What remains is to count it, or to log that this worker had lost the call. */
export function reply(settled: SettledCall, needs: Pick<Plane, 'log' | 'onSettled'>): void {
  const { delivered, outcome, answer, durationMs } = settled;
  if (answer === 'settled') return needs.onSettled(outcome.kind);
  const { callId, tool } = delivered.delivery;
  const { kind, executed, error } = outcome;
  const facts = { stage: 'answer', callId, tool, outcome: kind, executed, code: error?.code, durationMs, answer };
  needs.log.warn(facts, 'outcome dropped: the call is no longer ours');
}
