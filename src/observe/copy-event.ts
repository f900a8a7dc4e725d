import type { DiagnosticEvent, EventKind } from '../domain/diagnostic-event.ts';
import { fieldsOf } from '../domain/event-table.ts';

/** Longer than any id of ours. */
const MOST_CHARACTERS = 200;

type Plain = string | number | boolean | Readonly<Record<string, string | number | boolean>>;

/**
 * The event as listeners get it: a frozen copy of the fields in the table and of nothing else, so that a fact which was handed over by
 * mistake reaches nobody.
 */
export function copyEvent(kind: EventKind, seq: number, facts: object): DiagnosticEvent {
  const event: Record<string, Plain> = { kind, seq, at: Date.now() };
  for (const field of fieldsOf(kind)) {
    const value = copyValue((facts as Record<string, unknown>)[field]);
    if (value !== undefined) event[field] = value;
  }
  return Object.freeze(event) as unknown as DiagnosticEvent;
}

function copyValue(value: unknown): Plain | undefined {
  if (typeof value !== 'object' || value === null) return copyPrimitive(value);
  const copy: Record<string, string | number | boolean> = {};
  for (const [name, member] of Object.entries(value)) {
    const plain = copyPrimitive(member);
    if (plain !== undefined) copy[name] = plain;
  }
  return Object.freeze(copy);
}

function copyPrimitive(value: unknown): string | number | boolean | undefined {
  if (typeof value === 'string') return value.slice(0, MOST_CHARACTERS);
  return (typeof value === 'number' && Number.isFinite(value)) || typeof value === 'boolean' ? value : undefined;
}
