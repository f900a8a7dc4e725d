import type { JsonValue } from '../../base/json.ts';
import type { RepeatedMask } from '../../domain/ports/redactor.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';

/** The facts of an error that may contain text of a tool, of its schema or of a hook. The plane writes all other facts itself. */
const WORDED = ['message', 'code', 'type', 'how', 'reason', 'problem', 'problems', 'changes'];

/** Masks secret arguments that an error repeats. The error is stored, recorded and shown to more people than the caller. */
export function maskError(outcome: Outcome, mask: RepeatedMask | undefined): Outcome {
  const { error } = outcome;
  if (mask === undefined || error === undefined) return outcome;
  const message = mask.scrubText(error.message, true);
  const { facts } = error;
  if (facts === undefined) return { ...outcome, error: { ...error, message } };
  const entries = Object.entries(facts).map(([name, fact]) => [
    name,
    WORDED.includes(name) ? maskFact(fact, mask) : fact,
  ]);
  return { ...outcome, error: { ...error, message, facts: Object.fromEntries(entries) as typeof facts } };
}

function maskFact(fact: JsonValue, mask: RepeatedMask): JsonValue {
  if (typeof fact === 'string') return mask.scrubText(fact, true);
  return Array.isArray(fact) ? fact.map((item) => maskFact(item, mask)) : fact;
}
