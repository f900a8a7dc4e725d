import type { BlockedBy } from '../../domain/diagnostic-event.ts';
import { ended, type Ending } from '../../domain/ending.ts';
import { errorOfOutcome, toEventError } from '../../domain/error-category.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { CallEmitter } from '../../ports/events.ts';

/** Ends a call in the gate, and tells who did. */
export function refuse(outcome: Outcome, events: CallEmitter | undefined, by: BlockedBy, byId?: string): Ending {
  if (events?.wants('tool.blocked') === true) {
    const error = errorOfOutcome(outcome) ?? toEventError('internal');
    const who = byId === undefined ? { by } : { by, byId };
    events.emit('tool.blocked', { outcome: outcome.kind, executed: outcome.executed, error, ...who });
  }
  return ended(outcome);
}
