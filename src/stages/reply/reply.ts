import type { Outcome } from '../../domain/outcome.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';

interface SettledCall {
  readonly delivered: DeliveredCall;
  readonly outcome: Outcome;
  readonly answer: string;
  readonly durationMs: number;
}

/** The replies themselves went out with the settlement, in the same step. What is left is to count it, or to say that it is not ours. */
export function reply(settled: SettledCall, needs: Pick<Plane, 'log' | 'onSettled'>): void {
  const { delivered, outcome, answer, durationMs } = settled;
  if (answer === 'settled') return needs.onSettled(outcome.kind);
  const { callId, tool } = delivered.delivery;
  const { kind, executed, error } = outcome;
  const facts = { stage: 'reply', callId, tool, outcome: kind, executed, code: error?.code, durationMs, answer };
  needs.log.warn(facts, 'outcome dropped: the call is no longer ours');
}
