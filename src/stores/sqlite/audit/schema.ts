/**
 * Tables of an audit trail in SQLite. They are a part of the embedded store's file, and the only tables in the file of a sink. The row of a lane
 * holds its head; `fence` is the fence of its last drainer. Filters other than time and call read the records themselves.
 */
export const AUDIT_TABLES = `
  CREATE TABLE auditLane (
    id INTEGER PRIMARY KEY,
    store TEXT NOT NULL,
    lane INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    chain BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    UNIQUE (store, lane)
  ) STRICT;
  CREATE TABLE auditRecord (
    laneId INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    at INTEGER NOT NULL,
    callId TEXT NOT NULL,
    record TEXT NOT NULL,
    chain BLOB NOT NULL,
    PRIMARY KEY (laneId, sequence)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX auditAt ON auditRecord (at);
  CREATE INDEX auditCall ON auditRecord (callId);
  CREATE TABLE auditPayload (
    laneId INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    salt BLOB NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (laneId, sequence)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE auditStatement (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    keyId TEXT NOT NULL,
    signature BLOB NOT NULL
  ) STRICT;
`;

/**
 * Gives statements a number. Existing statements get numbers up to 0, in their order: the chain begins with number 1. The table has no
 * rowid, so SQLite assigns no number by itself, and a process of an older release, which sends no number, can no longer add a statement.
 */
export const NUMBER_STATEMENTS = `
  CREATE TABLE numberedStatement (
    number INTEGER PRIMARY KEY,
    text TEXT NOT NULL,
    keyId TEXT NOT NULL,
    signature BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO numberedStatement
    SELECT row_number() OVER (ORDER BY id) - count(*) OVER (), text, keyId, signature FROM auditStatement;
  DROP TABLE auditStatement;
  ALTER TABLE numberedStatement RENAME TO auditStatement;
`;
