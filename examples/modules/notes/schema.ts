import type { DatabaseSync } from 'node:sqlite';

const VERSION = 1;

/** The full-text index holds no copy of the text; triggers keep it in sync with the table. */
const SCHEMA = `
  CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    added_by TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (tenant, subject, added_by)
  );
  CREATE INDEX notes_of_owner ON notes (tenant, subject, id);
  CREATE VIRTUAL TABLE notes_fts USING fts5 (
    title, text, tags, content = 'notes', content_rowid = 'id', tokenize = "unicode61 remove_diacritics 2"
  );
  CREATE TRIGGER notes_added AFTER INSERT ON notes BEGIN
    INSERT INTO notes_fts (rowid, title, text, tags) VALUES (new.id, new.title, new.text, new.tags);
  END;
  CREATE TRIGGER notes_deleted AFTER DELETE ON notes BEGIN
    INSERT INTO notes_fts (notes_fts, rowid, title, text, tags) VALUES ('delete', old.id, old.title, old.text, old.tags);
  END;
  CREATE TRIGGER notes_edited AFTER UPDATE ON notes BEGIN
    INSERT INTO notes_fts (notes_fts, rowid, title, text, tags) VALUES ('delete', old.id, old.title, old.text, old.tags);
    INSERT INTO notes_fts (rowid, title, text, tags) VALUES (new.id, new.title, new.text, new.tags);
  END;
`;

/** Creates the tables of a new file. It uses one transaction, because several workers may open a new file at the same time. */
export function migrate(database: DatabaseSync): void {
  if (versionOf(database) === VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = versionOf(database);
    if (version > VERSION) throw new Error(`The notes file has version ${version}; this module knows ${VERSION}.`);
    if (version === 0) database.exec(`${SCHEMA} PRAGMA user_version = ${VERSION};`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function versionOf(database: DatabaseSync): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}
