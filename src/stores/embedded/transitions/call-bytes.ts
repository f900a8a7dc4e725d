import type { Database } from '../../sqlite/database.ts';
import type { CallRow } from '../rows.ts';

/**
 * Envelopes and outcomes up to this size are in the call's own row, which saves a separate row. Larger ones are in separate tables, so that a
 * renewal or a start does not rewrite them.
 */
const LARGEST_IN_ROW = 2_048;

export function fitsRow(bytes: Uint8Array): boolean {
  return bytes.byteLength <= LARGEST_IN_ROW;
}

export interface BodyRow {
  readonly envelope: Uint8Array;
  readonly resumedWith: Uint8Array | null;
}

/** Returns undefined when the body was deleted by hand. */
export function findBody(database: Database, seq: number): BodyRow | undefined {
  const found = database.get<{ envelope: Uint8Array | null; resumedWith: Uint8Array | null }>(
    `SELECT coalesce(call.envelope, body.envelope) AS envelope, resumedWith
     FROM call LEFT JOIN body USING (seq) WHERE call.seq = ?`,
    seq,
  );
  if (found === undefined || found.envelope === null) return undefined;
  return { envelope: found.envelope, resumedWith: found.resumedWith };
}

export function keepBodyApart(database: Database, seq: number, envelope: Uint8Array): void {
  database.run('INSERT INTO body (seq, envelope) VALUES (?, ?)', seq, envelope);
}

export function resumeWith(database: Database, seq: number, resumedWith: Uint8Array): void {
  database.run(
    `INSERT INTO body (seq, envelope, resumedWith) SELECT seq, envelope, ?2 FROM call WHERE seq = ?1 AND envelope IS NOT NULL
     ON CONFLICT (seq) DO NOTHING`,
    seq,
    resumedWith,
  );
  database.run('UPDATE body SET resumedWith = ? WHERE seq = ?', resumedWith, seq);
}

/** Deletes the separate body of a call that has ended. A body in the call's own row is removed by the change of that row. */
export function dropBodyApart(database: Database, call: Pick<CallRow, 'seq' | 'bytes' | 'approval'>): void {
  if (call.bytes > LARGEST_IN_ROW || call.approval !== null) database.run('DELETE FROM body WHERE seq = ?', call.seq);
}

export function keepOutcomeApart(database: Database, seq: number, outcome: Uint8Array): void {
  database.run('INSERT INTO outcome VALUES (?, ?)', seq, outcome);
}

export function findOutcome(database: Database, seq: number): Uint8Array | undefined {
  const found = database.get<{ outcome: Uint8Array | null }>(
    'SELECT coalesce(call.outcome, outcome.outcome) AS outcome FROM call LEFT JOIN outcome USING (seq) WHERE call.seq = ?',
    seq,
  );
  return found?.outcome ?? undefined;
}

export function dropOutcomeApart(database: Database, seq: number): void {
  database.run('DELETE FROM outcome WHERE seq = ?', seq);
}
