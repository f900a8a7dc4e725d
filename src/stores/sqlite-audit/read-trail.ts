import type { AuditFilter, AuditHead, ChainedRecord, SignedStatement } from '../../domain/audit-record.ts';
import type { QueryTrailRequest, ReadTrailRequest } from '../../ports/audit-store.ts';
import type { Database, SqlValue } from '../embedded/database.ts';

interface RecordRow {
  readonly record: string;
  readonly chain: Uint8Array;
  readonly salt: Uint8Array | null;
  readonly bytes: Uint8Array | null;
}

const COLUMNS = 'record, auditRecord.chain AS chain, salt, auditPayload.bytes AS bytes';
const JOINED = 'auditRecord LEFT JOIN auditPayload USING (laneId, sequence)';

export function readHeads(database: Database): AuditHead[] {
  return database.all<AuditHead>('SELECT store, lane, sequence, chain, bytes FROM auditLane ORDER BY store, lane');
}

export function readTrail(database: Database, request: ReadTrailRequest): ChainedRecord[] {
  const rows = database.all<RecordRow>(
    `SELECT ${COLUMNS} FROM ${JOINED} WHERE laneId = (SELECT id FROM auditLane WHERE store = ? AND lane = ?)
     AND sequence >= ? ORDER BY sequence LIMIT ?`,
    request.store,
    request.lane,
    request.fromSequence,
    request.limit,
  );
  return rows.map(toChained);
}

export function queryTrail(database: Database, { filter, limit, offset = 0 }: QueryTrailRequest): ChainedRecord[] {
  const { where, values } = conditionsOf(filter);
  const rows = database.all<RecordRow>(
    `SELECT ${COLUMNS} FROM ${JOINED} ${where} ORDER BY at DESC, laneId, sequence DESC LIMIT ? OFFSET ?`,
    ...values,
    limit,
    offset,
  );
  return rows.map(toChained);
}

export function listStatements(database: Database, request: { from: number; limit: number }): SignedStatement[] {
  return database.all<SignedStatement>(
    'SELECT text, keyId, signature FROM auditStatement ORDER BY id LIMIT ? OFFSET ?',
    request.limit,
    request.from,
  );
}

function toChained({ record, chain, salt, bytes }: RecordRow): ChainedRecord {
  return { text: record, chain, ...(salt === null || bytes === null ? {} : { payload: { salt, bytes } }) };
}

const FIELDS = ['tenant', 'subject', 'agent', 'tool', 'event'] as const;

function conditionsOf(filter: AuditFilter): { where: string; values: SqlValue[] } {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, value: SqlValue): void => {
    conditions.push(condition);
    values.push(value);
  };
  if (filter.from !== undefined) add('at >= ?', filter.from);
  if (filter.to !== undefined) add('at < ?', filter.to);
  if (filter.callId !== undefined) add('callId = ?', filter.callId);
  for (const name of FIELDS) {
    const value = filter[name];
    if (value !== undefined) add(`json_extract(record, '$.${name}') = ?`, value);
  }
  const { outcome } = filter;
  if (outcome === 'not-ok') add(`json_extract(record, '$.outcome') <> ?`, 'ok');
  else if (outcome !== undefined) add(`json_extract(record, '$.outcome') = ?`, outcome);
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}
