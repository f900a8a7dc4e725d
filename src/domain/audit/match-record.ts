import type { AuditFilter, AuditRecord } from './audit-record.ts';

const FIELDS = ['tenant', 'subject', 'agent', 'tool', 'event', 'callId', 'by'] as const;

/** Applies the same filter as a sink's query, to records that are read one by one. */
export function matchesFilter(record: AuditRecord, filter: AuditFilter): boolean {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, outcome } = filter;
  if (record.at < from || record.at >= to) return false;
  if (FIELDS.some((name) => filter[name] !== undefined && filter[name] !== record[name])) return false;
  if (outcome === undefined) return true;
  return outcome === 'not-ok' ? record.outcome !== undefined && record.outcome !== 'ok' : record.outcome === outcome;
}
