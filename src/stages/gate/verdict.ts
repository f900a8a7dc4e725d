import type { BlockedBy } from '../../domain/events/diagnostic-event.ts';
import { ended, type Ending, type RefusedBy } from '../../domain/call/ending.ts';
import { errorOfOutcome, toEventError } from '../../domain/outcome/error-category.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Objection } from '../../gate/judge.ts';
import type { CallEmitter } from '../../domain/ports/events.ts';
import type { AllowedCall, GateBasis, GateFacts, IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import type { LoopVerdict } from '../../domain/policy/loop-verdict.ts';

const NO_FACTS: GateFacts = Object.freeze({});

export function allow(call: IdentifiedCall, facts: GateFacts = NO_FACTS, basis?: GateBasis): AllowedCall {
  return { kind: 'allowed', call, facts, basis };
}

/** Ends a call that a check of the gate objects to. */
export function endByObjection({ by, id, outcome, loop }: Objection, events: CallEmitter | undefined): Ending {
  return endedWithAdvice(refuse(outcome, events, by, id), loop);
}

/** Ends a call in the gate. The event and the audit record name the check that refused it. */
export function refuse(
  outcome: Outcome,
  events: CallEmitter | undefined,
  by: BlockedBy,
  byId?: string,
  askers?: readonly string[],
): Ending {
  if (events?.wants('tool.blocked') === true) {
    const error = errorOfOutcome(outcome) ?? toEventError('internal');
    const who = byId === undefined ? { by } : { by, byId };
    events.emit('tool.blocked', { outcome: outcome.kind, executed: outcome.executed, error, ...who });
  }
  return ended(outcome, refusedBy(by, byId, askers));
}

function refusedBy(
  by: BlockedBy,
  byId: string | undefined,
  askers: readonly string[] | undefined,
): RefusedBy | undefined {
  if (by === 'hook' && byId !== undefined) return { hook: byId };
  return askers === undefined ? undefined : { askers };
}

/** Adds the advice of loop detection to a refusal by another check, so that the model reads both. */
export function endedWithAdvice(ending: Ending, loop: LoopVerdict): Ending {
  if (ending.kind !== 'ended' || loop.kind !== 'warn') return ending;
  const { message: advice, detector } = loop;
  return { ...ending, refusedBy: { ...ending.refusedBy, advice, detector } };
}
