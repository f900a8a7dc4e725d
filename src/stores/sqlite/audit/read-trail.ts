import type { AuditHead, ChainedRecord, PlacedStatement } from '../../../domain/audit/audit-record.ts';
import type { ReadTrailRequest } from '../../../domain/ports/audit-store.ts';
import { findWrongColumn } from '../../../domain/audit/record-index.ts';
import type { Database } from '../database.ts';

export interface RecordRow {
  readonly record: string;
  readonly indexedSequence: string;
  readonly indexedAt: string;
  readonly callId: string;
  readonly chain: Uint8Array;
  readonly salt: Uint8Array | null;
  readonly bytes: Uint8Array | null;
}

export const COLUMNS = `record, CAST(sequence AS TEXT) AS indexedSequence, CAST(at AS TEXT) AS indexedAt, callId,
  auditRecord.chain AS chain, salt, auditPayload.bytes AS bytes`;
export const JOINED = 'auditRecord LEFT JOIN auditPayload USING (laneId, sequence)';

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

const STATEMENT = 'SELECT number, text, keyId, signature FROM auditStatement';

export function listStatements(
  database: Database,
  { after, limit }: { readonly after?: number; readonly limit: number },
): PlacedStatement[] {
  if (after === undefined) return database.all<PlacedStatement>(`${STATEMENT} ORDER BY number LIMIT ?`, limit);
  return database.all<PlacedStatement>(`${STATEMENT} WHERE number > ? ORDER BY number LIMIT ?`, after, limit);
}

export function lastStatement(database: Database): PlacedStatement | undefined {
  return database.get<PlacedStatement>(`${STATEMENT} ORDER BY number DESC LIMIT 1`);
}

export function toChained({ record, chain, salt, bytes, ...row }: RecordRow): ChainedRecord {
  const index = { sequence: row.indexedSequence, at: row.indexedAt, callId: row.callId };
  const wrongColumn = findWrongColumn(record, index);
  return {
    text: record,
    chain,
    ...(salt === null || bytes === null ? {} : { payload: { salt, bytes } }),
    ...(wrongColumn === undefined ? {} : { wrongColumn }),
  };
}
