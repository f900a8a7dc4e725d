import type { Outcome } from '../../domain/outcome.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';

interface SettledCall {
  readonly delivered: DeliveredCall;
  readonly outcome: Outcome;
  readonly answer: string;
  readonly durationMs: number;
}

/** Endings that are nobody's mistake, or the model's own business. Everything else is escalated to the operator. */
const QUIET: readonly string[] = ['ok', 'failed', 'invalid', 'stale', 'expired', 'cancelled'];

/** The replies themselves went out with the settlement, in the same step. What is left is to tell the operator. */
export function reply(settled: SettledCall, needs: Pick<Plane, 'log' | 'onSettled'>): void {
  const { delivery } = settled.delivered;
  const { kind, executed, error } = settled.outcome;
  if (settled.answer === 'settled') needs.onSettled(kind);
  if (settled.answer === 'settled' && QUIET.includes(kind)) return;
  const facts = {
    stage: 'reply',
    callId: delivery.callId,
    tool: delivery.tool,
    outcome: kind,
    executed,
    code: error?.code,
    durationMs: settled.durationMs,
  };
  if (settled.answer === 'settled') needs.log.warn(facts, 'call did not end well');
  else needs.log.warn({ ...facts, answer: settled.answer }, 'outcome dropped: the call is no longer ours');
}
