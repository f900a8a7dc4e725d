import type { DiagnosticEvent, EventKind, SharedFields } from '../domain/events/diagnostic-event.ts';
import { fieldsOf, SHARED_FIELDS } from '../domain/events/event-table.ts';

/** Max length of a text in an event; longer than any id of Sallyport. */
const MAX_CHARACTERS = 200;
const SHARED = Object.keys(SHARED_FIELDS);

type Plain = string | number | boolean | Readonly<Record<string, string | number | boolean>>;

/**
 * Makes the event that listeners get: a frozen copy with only the fields of the event table. A fact that was passed by mistake therefore
 * never reaches a listener.
 */
export function copyEvent(kind: EventKind, seq: number, facts: object, shared?: SharedFields): DiagnosticEvent {
  const event: Record<string, Plain> = { kind, seq, at: nowMs() };
  if (shared !== undefined) copyFields(SHARED, shared, event);
  copyFields(fieldsOf(kind), facts, event);
  return Object.freeze(event) as unknown as DiagnosticEvent;
}

function copyFields(names: readonly string[], from: object, to: Record<string, Plain>): void {
  for (const name of names) {
    const value = copyValue((from as Record<string, unknown>)[name]);
    if (value !== undefined) to[name] = value;
  }
}

function copyValue(value: unknown): Plain | undefined {
  if (typeof value !== 'object' || value === null) return copyPrimitive(value);
  const copy: Record<string, string | number | boolean> = {};
  for (const name of Object.keys(value)) {
    const plain = copyPrimitive((value as Record<string, unknown>)[name]);
    if (plain !== undefined) copy[name] = plain;
  }
  return Object.freeze(copy);
}

function copyPrimitive(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string') return value.length > MAX_CHARACTERS ? value.slice(0, MAX_CHARACTERS) : value;
  return (typeof value === 'number' && Number.isFinite(value)) || typeof value === 'boolean' ? value : undefined;
}

/** The wall clock minus the monotonic clock, in milliseconds, as of the last call of `nowMs`. */
let offsetMs = Date.now() - performance.now();

/**
 * Milliseconds since 1970, precise to the microsecond, because stages are shorter than a tick of the wall clock. Stays within one
 * millisecond of the wall clock, even if that clock is changed.
 */
function nowMs(): number {
  const [wall, monotonic] = [Date.now(), performance.now()];
  const ahead = monotonic + offsetMs - wall;
  if (ahead < 0 || ahead > 1) offsetMs += (ahead < 0 ? 0 : 1) - ahead;
  return Math.round((monotonic + offsetMs) * 1000) / 1000;
}
