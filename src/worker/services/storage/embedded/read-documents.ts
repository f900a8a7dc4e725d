import type { Database } from '../../../../stores/sqlite/database.ts';
import type { ListQuery, NewVector, Postings, StoredDocument, StoredVector } from '../scoped-store.ts';
import { countDocuments } from './documents.ts';
import { wordToken } from './word-token.ts';

const SHOWN = 'd.id, d.version, d.place AS "order", d.at, d.body';
const LIVE = '(d.expires_at IS NULL OR d.expires_at > ?)';

/** Returns the number of a scope; 0 if it does not exist, because no scope has that number. */
export function scopeNumber(database: Database, name: string): number {
  return database.get<{ number: number }>('SELECT number FROM scopes WHERE name = ?', name)?.number ?? 0;
}

export function scopeVersion(database: Database, name: string): number {
  return database.get<{ version: number }>('SELECT version FROM scopes WHERE name = ?', name)?.version ?? 0;
}

export function readDocuments(
  database: Database,
  scope: number,
  collection: string,
  ids: readonly string[],
  now: number,
): (StoredDocument | undefined)[] {
  const find = `SELECT ${SHOWN} FROM documents d WHERE d.scope = ? AND d.collection = ? AND d.id = ? AND ${LIVE}`;
  return ids.map((id) => plain(database.get<StoredDocument>(find, scope, collection, id, now)));
}

export function listDocuments(
  database: Database,
  scope: number,
  collection: string,
  { label, before = Number.MAX_SAFE_INTEGER, limit }: ListQuery,
  now: number,
): StoredDocument[] {
  const found =
    label === undefined
      ? database.all<StoredDocument>(
          `SELECT ${SHOWN} FROM documents d WHERE d.scope = ? AND d.collection = ? AND d.place < ? AND ${LIVE}
           ORDER BY d.place DESC LIMIT ?`,
          scope,
          collection,
          before,
          now,
          limit,
        )
      : database.all<StoredDocument>(
          `SELECT ${SHOWN} FROM labels l JOIN documents d ON d.row = l.row
           WHERE l.scope = ? AND l.collection = ? AND l.label = ? AND l.place < ? AND ${LIVE}
           ORDER BY l.place DESC LIMIT ?`,
          scope,
          collection,
          label,
          before,
          now,
          limit,
        );
  return found.map((document) => plain(document)!);
}

export function findPostings(
  database: Database,
  scope: number,
  collection: string,
  terms: readonly string[],
  limit: number,
): Postings {
  // The newest rows are found in the word index alone; only their ids are read from the table.
  const find = `SELECT d.id FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?) w
    JOIN documents d ON d.row = w.rowid ORDER BY d.row DESC`;
  const lists = terms.map((term) =>
    database.all<{ id: string }>(find, `"${wordToken(scope, collection, term)}"`, limit).map(({ id }) => id),
  );
  return { documents: countDocuments(database, scope, collection), lists };
}

export function listVectors(
  database: Database,
  scope: number,
  collection: string,
  limit: number,
  now: number,
): StoredVector[] {
  return database
    .all<{ id: string; version: number; data: Uint8Array | null }>(
      `SELECT d.id, d.version, v.data FROM documents d LEFT JOIN vectors v ON v.row = d.row
       WHERE d.scope = ? AND d.collection = ? AND ${LIVE} ORDER BY d.place DESC LIMIT ?`,
      scope,
      collection,
      now,
      limit,
    )
    .map(({ id, version, data }) => ({ id, version, vector: data ?? undefined }));
}

export function keepVectors(
  database: Database,
  scope: number,
  collection: string,
  vectors: readonly NewVector[],
): void {
  const keep = `INSERT OR REPLACE INTO vectors (row, data)
    SELECT row, ? FROM documents WHERE scope = ? AND collection = ? AND id = ? AND version = ?`;
  for (const { id, version, vector } of vectors) database.run(keep, vector, scope, collection, id, version);
}

/** Copies a row into a plain object: rows of SQLite have no prototype, and these are sent to another thread. */
function plain(row: StoredDocument | undefined): StoredDocument | undefined {
  return row === undefined ? undefined : { ...row };
}
