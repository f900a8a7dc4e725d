import type { AuditFilter, ChainedRecord } from '../domain/audit-record.ts';

export interface RecordRow {
  readonly record: string;
  readonly chain: Buffer;
  readonly salt: Buffer | null;
  readonly bytes: Buffer | null;
}

export const RECORD_COLUMNS = 'record, audit_record.chain, salt, audit_payload.bytes';
export const RECORD_TABLES = 'audit_record LEFT JOIN audit_payload USING (lane_id, sequence)';

export function toChained({ record, chain, salt, bytes }: RecordRow): ChainedRecord {
  return { text: record, chain, ...(salt === null || bytes === null ? {} : { payload: { salt, bytes } }) };
}

const FIELDS = ['tenant', 'subject', 'agent', 'tool', 'event'] as const;

export function conditionsOf(filter: AuditFilter): { where: string; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (left: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(`${left} $${values.length}`);
  };
  add('at >=', filter.from);
  add('at <', filter.to);
  add('call_id =', filter.callId);
  for (const name of FIELDS) add(`${name} =`, filter[name]);
  if (filter.outcome === 'not-ok') add('outcome <>', 'ok');
  else add('outcome =', filter.outcome);
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}
