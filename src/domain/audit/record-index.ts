import type { AuditFilter, AuditRecord, ChainedRecord } from './audit-record.ts';
import { parseRecord } from './record-bytes.ts';
import { matchesFilter } from './match-record.ts';

/**
 * The values of a record's columns, by the name of the record's field. Numbers are read as text, because an attacker may have written one
 * that is too large for a JavaScript number.
 */
export type RecordIndex = Readonly<Partial<Record<keyof typeof NAMES, string | null>>>;

/** Column names for people. */
const NAMES = {
  sequence: 'number',
  at: 'time',
  callId: 'call',
  tenant: 'tenant',
  subject: 'subject',
  agent: 'agent',
  tool: 'tool',
  event: 'event',
  outcome: 'outcome',
} as const;

/**
 * Replaces NUL and lone surrogates: a record's text escapes them, but a column cannot hold them. Without this, a record with such a
 * character could not be stored, and all records after it would have to wait.
 */
export const indexText = (text: string): string => text.replaceAll(UNWRITABLE, '\uFFFD');
const UNWRITABLE = /\0|\p{Surrogate}/gu;

/**
 * The name of a column that differs from the record's text. The chain covers only the text, not the columns by which a record is found. An
 * attacker who can write the tables could show one call's records as those of another, or hide them. So each reader compares the columns
 * with the text.
 */
export function findWrongColumn(text: string, index: RecordIndex): string | undefined {
  const record = parseRecord(text);
  if (record === undefined) return undefined;
  const wrong = (Object.keys(index) as (keyof typeof NAMES)[]).find((name) => !isSame(index[name]!, record, name));
  return wrong && NAMES[wrong];
}

function isSame(column: string | null, record: AuditRecord, name: keyof typeof NAMES): boolean {
  const own = record[name] ?? (name === 'outcome' ? null : '');
  if (own === null || column === null) return own === column;
  return column === indexText(String(own));
}

/** Whether the record's own text matches the filter, whatever its columns contain. An unreadable record matches only an empty filter. */
export function isFoundRightly({ text, wrongColumn }: ChainedRecord, filter: AuditFilter): boolean {
  const record = parseRecord(text);
  if (record === undefined) return Object.values(filter).every((value) => value === undefined);
  return wrongColumn === undefined || matchesFilter(record, filter);
}
