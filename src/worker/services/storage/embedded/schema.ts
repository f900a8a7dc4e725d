import { planeError } from '../../../../domain/errors/errors.ts';
import { Database } from '../../../../stores/sqlite/database.ts';

/** Version of the file; raised when the tables change. */
const VERSION = 1;
const BUSY_TIMEOUT_MS = 10_000;

const TABLES = `
CREATE TABLE scopes (
  number  INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,
  counter INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A document that moves to the front gets a new row, so that rows stand in the order of their scope, as the word index needs it.
CREATE TABLE documents (
  row        INTEGER PRIMARY KEY AUTOINCREMENT,
  scope      INTEGER NOT NULL,
  collection TEXT NOT NULL,
  id         TEXT NOT NULL,
  version    INTEGER NOT NULL,
  place      INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  expires_at INTEGER,
  key        TEXT,
  body       TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX documents_by_id ON documents (scope, collection, id);
CREATE UNIQUE INDEX documents_by_key ON documents (scope, collection, key) WHERE key IS NOT NULL;
CREATE INDEX documents_by_place ON documents (scope, collection, place);
CREATE INDEX documents_by_expiry ON documents (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE labels (
  scope      INTEGER NOT NULL,
  collection TEXT NOT NULL,
  label      TEXT NOT NULL,
  place      INTEGER NOT NULL,
  row        INTEGER NOT NULL,
  PRIMARY KEY (scope, collection, label, place, row)
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_row ON labels (row);

CREATE TABLE vectors (row INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;

CREATE VIRTUAL TABLE words USING fts5(tokens, content='', contentless_delete=1, detail=none, tokenize='ascii');
`;

/** Opens the file and creates its tables. Several processes may have it open: SQLite's locks order their transactions. */
export function openServicesFile(path: string): Database {
  const database = new Database(path, BUSY_TIMEOUT_MS);
  try {
    // Every commit is on disk before it is answered, as in the store's own file.
    for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'trusted_schema = OFF']) {
      database.execute(`PRAGMA ${pragma}`);
    }
    database.begin();
    const found = database.get<{ user_version: number }>('PRAGMA user_version')!.user_version;
    if (found === 0) {
      database.execute(TABLES);
      database.execute(`PRAGMA user_version = ${VERSION}`);
    } else if (found !== VERSION) {
      throw planeError('STORE_VERSION', { found: String(found), known: String(VERSION) });
    }
    database.commit();
    return database;
  } catch (error) {
    database.rollback();
    database.close();
    throw error;
  }
}
