import type { AuditHead, ChainedRecord } from '../../../domain/audit/audit-record.ts';
import type { CutRequest, EraseRequest, NextStatement } from '../../../domain/ports/audit-store.ts';
import { firstLink } from '../../../domain/audit/record-bytes.ts';
import type { Database } from '../database.ts';

/** A row of `auditLane`. The functions of this file must be called inside a transaction that the caller has opened. */
export interface LaneRow extends AuditHead {
  readonly id: number;
  readonly fence: number;
}

const LANE = 'SELECT id, store, lane, sequence, chain, bytes, fence FROM auditLane WHERE store = ? AND lane = ?';

export function openAuditLane(database: Database, store: string, lane: number): LaneRow {
  const found = database.get<LaneRow>(LANE, store, lane);
  if (found !== undefined) return found;
  const first = { store, lane, sequence: 0, chain: firstLink(store, lane), bytes: 0, fence: 0 };
  const id = database.insert(
    'INSERT INTO auditLane (store, lane, sequence, chain, bytes, fence) VALUES (?, ?, 0, ?, 0, 0)',
    store,
    lane,
    first.chain,
  );
  return { ...first, id };
}

export interface PlacedRecord extends ChainedRecord {
  readonly sequence: number;
  readonly at: number;
  /** Empty when the record is not about a call. */
  readonly callId: string;
}

export function insertRecord(database: Database, laneId: number, record: PlacedRecord): void {
  const { sequence, at, callId, text, chain, payload } = record;
  database.run('INSERT INTO auditRecord VALUES (?, ?, ?, ?, ?, ?)', laneId, sequence, at, callId, text, chain);
  if (payload === undefined) return;
  database.run('INSERT INTO auditPayload VALUES (?, ?, ?, ?)', laneId, sequence, payload.salt, payload.bytes);
}

export function moveHead(
  database: Database,
  id: number,
  head: { readonly sequence: number; readonly chain: Uint8Array; readonly bytes: number },
): void {
  const { sequence, chain, bytes } = head;
  database.run('UPDATE auditLane SET sequence = ?, chain = ?, bytes = ? WHERE id = ?', sequence, chain, bytes, id);
}

/** Returns false if another statement was added after the caller read the last one. */
export function insertStatement(database: Database, statement: NextStatement): boolean {
  const { number, after, text, keyId, signature } = statement;
  const last = database.get<{ last: number | null }>('SELECT max(number) AS last FROM auditStatement')!.last ?? 0;
  if (last !== after) return false;
  database.run('INSERT INTO auditStatement VALUES (?, ?, ?, ?)', number, text, keyId, signature);
  return true;
}

/** Erases the payloads of one subject. Returns how many were erased, and the freed bytes of each lane. */
export function erasePayloads(
  database: Database,
  { tenant, subject, heads, statement }: EraseRequest,
): { erased: number; bytes: ReadonlyMap<number, number> } | 'stale' {
  if (!insertStatement(database, statement)) return 'stale';
  const bytes = new Map<number, number>();
  let erased = 0;
  for (const { store, lane, sequence } of heads) {
    const { id } = openAuditLane(database, store, lane);
    const which = `laneId = ?1 AND sequence IN (SELECT sequence FROM auditRecord WHERE laneId = ?1 AND sequence <= ?2
      AND json_extract(record, '$.tenant') = ?3 AND json_extract(record, '$.subject') = ?4)`;
    const sum = `SELECT coalesce(sum(length(bytes)), 0) AS bytes FROM auditPayload WHERE ${which}`;
    const freed = database.get<{ bytes: number }>(sum, id, sequence, tenant, subject)!.bytes;
    erased += database.overwriting(() =>
      database.run(`DELETE FROM auditPayload WHERE ${which}`, id, sequence, tenant, subject),
    );
    database.run('UPDATE auditLane SET bytes = bytes - ? WHERE id = ?', freed, id);
    bytes.set(lane, freed);
  }
  database.eraseFromLog();
  return { erased, bytes };
}

/** Deletes the records of a lane up to the cut. Returns the number of freed bytes. */
export function cutTrail(database: Database, { cut, statement, drop }: CutRequest): number | 'stale' {
  if (!insertStatement(database, statement)) return 'stale';
  const { id } = openAuditLane(database, cut.store, cut.lane);
  const freed = database.get<{ bytes: number }>(
    `SELECT coalesce(sum(length(CAST(record AS BLOB)) + coalesce(length(auditPayload.bytes), 0)), 0) AS bytes
     FROM auditRecord LEFT JOIN auditPayload USING (laneId, sequence) WHERE laneId = ? AND sequence <= ?`,
    id,
    cut.sequence,
  )!.bytes;
  // Overwrites the deleted bytes now, because a later erasure finds no rows here and could not overwrite them.
  database.overwriting(() => {
    database.run('DELETE FROM auditPayload WHERE laneId = ? AND sequence <= ?', id, cut.sequence);
    database.run('DELETE FROM auditRecord WHERE laneId = ? AND sequence <= ?', id, cut.sequence);
  });
  database.run('UPDATE auditLane SET bytes = bytes - ? WHERE id = ?', freed, id);
  if (drop !== undefined) {
    database.run(
      'DELETE FROM auditStatement WHERE number <= ? AND number NOT IN (SELECT value FROM json_each(?))',
      drop.through,
      JSON.stringify(drop.keep),
    );
  }
  return freed;
}
