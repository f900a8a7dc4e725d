import type { AuditFilter, AuditRecord, ChainedRecord } from '../domain/audit-record.ts';
import { parseRecord } from './audit-record.ts';
import { matchesFilter } from './match-record.ts';

/** What a column says, by the name of the record's field. Numbers come as text, so that none is too large to be read. */
export type RecordIndex = Readonly<Partial<Record<keyof typeof NAMES, string | null>>>;

/** For people. */
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

/** A record's text escapes a zero and half of a surrogate pair. A column cannot hold them, and no record may stop the ones behind it. */
export const indexText = (text: string): string => text.replaceAll(UNWRITABLE, '\uFFFD');
const UNWRITABLE = /\0|\p{Surrogate}/gu;

/**
 * The chain is made over a record's text and not over the columns beside it that it is found by. An attacker who can write the tables
 * could show one call's records as those of another, or hide them: each reader compares the columns with the text.
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

/** Whether the record's own text answers the question, whatever its columns say. What cannot be read answers none. */
export function isFoundRightly({ text, wrongColumn }: ChainedRecord, filter: AuditFilter): boolean {
  const record = parseRecord(text);
  if (record === undefined) return Object.values(filter).every((value) => value === undefined);
  return wrongColumn === undefined || matchesFilter(record, filter);
}
