import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { acceptRequest, openSession } from '../../../test/contract/fixtures.ts';
import { openDirectStore } from '../../../test/embedded/direct-store.ts';
import { temporaryFolder, type TemporaryFolder } from '../../../test/support/process.ts';
import { nextLink, parseRecord } from '../../domain/audit/record-bytes.ts';
import { newTokenText } from '../../domain/identity/token-text.ts';
import { listStatements, readHeads, readTrail } from '../sqlite/audit/read-trail.ts';
import { Database } from '../sqlite/database.ts';
import { closeStoreFile, openStoreFile, SCHEMA_VERSION } from './schema.ts';
import { findBody, findOutcome } from './transitions/call-bytes.ts';

let folder: TemporaryFolder;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'store.sqlite');
});
afterEach(() => folder.remove());

it('a store keeps its incarnation when it is opened again', () => {
  const first = openStoreFile(file);
  closeStoreFile(first);
  const second = openStoreFile(file);
  closeStoreFile(second);
  expect(second.incarnation).toBe(first.incarnation);
});

it('two stores have different incarnations', () => {
  const one = openStoreFile(file);
  const other = openStoreFile(join(folder.path, 'other.sqlite'));
  closeStoreFile(one);
  closeStoreFile(other);
  expect(other.incarnation).not.toBe(one.incarnation);
});

it('every commit is synced before it returns', () => {
  const opened = openStoreFile(file);
  const { database } = opened;
  expect(database.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
  expect(database.get('PRAGMA synchronous')).toEqual({ synchronous: 2 });
  closeStoreFile(opened);
});

it('a store of the first release is brought up to date, with what is in it', () => {
  const first = openStoreFile(file);
  first.database.execute(`
    DROP INDEX callRun;
    ALTER TABLE session DROP COLUMN loopEnds; ALTER TABLE session DROP COLUMN openedBy; ALTER TABLE session DROP COLUMN stalls;
    ALTER TABLE run DROP COLUMN startedAt;
    ALTER TABLE run DROP COLUMN attempts;
    ALTER TABLE run DROP COLUMN attemptsByTool;
    ALTER TABLE run DROP COLUMN cost;
    ALTER TABLE run DROP COLUMN loopEnds;
    ALTER TABLE call DROP COLUMN sequence;
    ALTER TABLE call DROP COLUMN toolSequence;
    ALTER TABLE call DROP COLUMN attempt;
    DROP TABLE approval; DROP TABLE grant; DROP TABLE injected; DROP TABLE delegate; DROP TABLE effect; DROP TABLE redirect;
    DROP TABLE token; DROP TABLE once; DROP TABLE owed; DROP TABLE owedHolder; DROP TABLE tokenSession;
    DROP TABLE subjectRetained; DROP TABLE pins; DROP TABLE offer;
    ALTER TABLE call DROP COLUMN envelope; ALTER TABLE call DROP COLUMN outcome;
    CREATE INDEX replyCaller ON reply (callerId, replyId);
    ALTER TABLE call DROP COLUMN approval; ALTER TABLE call DROP COLUMN grantId; ALTER TABLE call DROP COLUMN abandonedFence;
    DROP TABLE auditLane; DROP TABLE auditRecord; DROP TABLE auditPayload; DROP TABLE auditStatement;
    DROP TABLE auditMark;
    CREATE TABLE audit (
      sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, event TEXT NOT NULL, callId TEXT NOT NULL, tool TEXT NOT NULL,
      session TEXT NOT NULL, bodyDigest TEXT NOT NULL, identity TEXT NOT NULL, detail BLOB NOT NULL
    ) STRICT;
    INSERT INTO audit VALUES
      (1, 5, 'call.settled', 'c', 'a.b', 's', 'd', '{"agent":"main","subject":"ann","tenant":"acme"}', x'81a762790161'),
      (2, 6, 'call.resolved', 'c', 'a.b', 's', 'd', '{"agent":"main","subject":"ann","tenant":"acme"}', x'00');
    PRAGMA user_version = 1;`);
  closeStoreFile(first);
  const second = openStoreFile(file);
  expect(second.incarnation).toBe(first.incarnation);
  expect(second.database.all('SELECT abandonedFence FROM call')).toEqual([]);
  expect(second.database.all('SELECT * FROM injected')).toEqual([]);
  const [one, other] = readTrail(second.database, { store: first.incarnation, lane: 0, fromSequence: 1, limit: 9 });
  expect(parseRecord(other!.text)).toMatchObject({ sequence: 2, subject: 'ann', event: 'call.resolved' });
  expect(Buffer.from(other!.chain)).toEqual(Buffer.from(nextLink(one!.chain, other!.text)));
  expect(readHeads(second.database)).toMatchObject([{ lane: 0, sequence: 2, chain: other!.chain }]);
  for (const table of ['approval', 'grant']) expect(second.database.all(`SELECT * FROM ${table}`)).toEqual([]);
  for (const table of ['delegate', 'effect', 'redirect', 'token', 'once'])
    expect(second.database.all(`SELECT * FROM ${table}`)).toEqual([]);
  closeStoreFile(second);
});

/** The release before counted the runs that a loop ended, without their times. */
const COUNTED_ENDED_RUNS = `
  ALTER TABLE session DROP COLUMN loopEnds; ALTER TABLE session ADD COLUMN endedRuns INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE run DROP COLUMN loopEnds; ALTER TABLE run ADD COLUMN endedRuns INTEGER NOT NULL DEFAULT 0;`;

it('runs that a loop ended under an earlier release count from the latest possible time', () => {
  const first = openStoreFile(file);
  first.database.execute(
    `${COUNTED_ENDED_RUNS} ALTER TABLE session DROP COLUMN openedBy; ALTER TABLE session DROP COLUMN stalls;`,
  );
  for (const endedRuns of [0, 1, 7]) {
    const session = `s${endedRuns}`;
    first.database.run(
      "INSERT INTO session VALUES (?, 'x', '{}', x'00', 1, 9000, 9000, 500, 0, ?)",
      session,
      endedRuns,
    );
    first.database.run(
      "INSERT INTO run (session, run, startedAt, endedRuns) VALUES (?, 'r', 400, ?)",
      session,
      endedRuns,
    );
  }
  first.database.execute(
    `DROP TABLE subjectRetained; DROP TABLE pins; DROP TABLE offer; PRAGMA user_version = ${SCHEMA_VERSION - 5}`,
  );
  closeStoreFile(first);
  const second = openStoreFile(file);
  const read = (table: string): unknown[] =>
    second.database
      .all<{ loopEnds: string }>(`SELECT loopEnds FROM ${table} ORDER BY ${table === 'run' ? 'session' : 'id'}`)
      .map(({ loopEnds }) => JSON.parse(loopEnds) as unknown);
  const end = [null, 500, 500];
  expect(read('session')).toEqual([[], [end], [end, end]]);
  expect(read('run')).toEqual([[], [400], [400, 400]]);
  closeStoreFile(second);
});

it('bodies of calls that waited while the store was brought up to date are found, and statements get numbers up to 0', () => {
  const first = openStoreFile(file);
  const insert = `INSERT INTO call (seq, keyId, generation, state, scope, session, run, tool, pool, bodyDigest, identity, epoch,
    sessionExpiresAt, acceptedAt, deadline, bytes, waiters, serial, slotWindow, holdsSlot)
    VALUES (?, ?, 1, ?, 'ann', '', '', '', '', '', '{}', 1, 9, 1, 9, ?, '[]', 0, 1, 1)`;
  first.database.execute(
    `ALTER TABLE call DROP COLUMN envelope; ALTER TABLE call DROP COLUMN outcome;
     CREATE INDEX replyCaller ON reply (callerId, replyId);
     DROP TABLE auditMark; DROP TABLE auditStatement;
     CREATE TABLE auditStatement (id INTEGER PRIMARY KEY, text TEXT NOT NULL, keyId TEXT NOT NULL, signature BLOB NOT NULL) STRICT;
     INSERT INTO auditStatement VALUES (7, 'old', 'k', x'00'), (9, 'older release', 'k', x'00');
     ALTER TABLE approval DROP COLUMN revealedBy; ALTER TABLE session DROP COLUMN openedBy; ALTER TABLE session DROP COLUMN stalls;
     DROP TABLE owed; DROP TABLE owedHolder; DROP TABLE tokenSession; DROP TABLE subjectRetained; DROP TABLE pins; DROP TABLE offer;
     ${COUNTED_ENDED_RUNS}
     PRAGMA user_version = ${SCHEMA_VERSION - 9};`,
  );
  const bodies = [2, 5_000, 3].map((length) => new Uint8Array(length).fill(7));
  for (const [index, body] of bodies.entries()) {
    first.database.run(insert, index + 1, `k${index}`, 'queued', body.length);
    first.database.run('INSERT INTO body VALUES (?, ?, ?)', index + 1, body, index === 2 ? body : null);
  }
  first.database.run(insert, 9, 'k9', 'settled', 1);
  first.database.run('INSERT INTO outcome VALUES (9, ?)', new Uint8Array([1]));
  closeStoreFile(first);
  const { database, ...second } = openStoreFile(file);
  expect([1, 2, 3].map((seq) => findBody(database, seq))).toEqual(
    bodies.map((envelope, index) => ({ envelope, resumedWith: index === 2 ? envelope : null })),
  );
  expect(database.all('SELECT seq FROM body ORDER BY seq')).toEqual([{ seq: 2 }, { seq: 3 }]);
  expect(findOutcome(database, 9)).toEqual(new Uint8Array([1]));
  expect(database.all('SELECT * FROM subjectRetained')).toEqual([{ scope: 'ann', bytes: 1 }]);
  expect(listStatements(database, { limit: 9 })).toMatchObject([
    { number: -1, text: 'old' },
    { number: 0, text: 'older release' },
  ]);
  closeStoreFile({ database, ...second });
});

it('a store of a newer release is refused and left as it is', () => {
  closeStoreFile(openStoreFile(file));
  const newer = new Database(file, 0);
  newer.execute('PRAGMA user_version = 99');
  newer.close();
  const before = readFileSync(file);
  expect(() => openStoreFile(file)).toThrow(expect.objectContaining({ code: 'STORE_VERSION' }));
  expect(readFileSync(file).equals(before)).toBe(true);
});

it('a SQLite file of another program is refused', () => {
  const foreign = new Database(file, 0);
  foreign.execute('CREATE TABLE theirs (a INTEGER)');
  foreign.close();
  expect(() => openStoreFile(file)).toThrow(expect.objectContaining({ code: 'STORE_FAILED' }));
});

it('no other connection can use the file while a store has it open', () => {
  const opened = openStoreFile(file);
  const other = new Database(file, 0);
  expect(() => other.get('SELECT id FROM incarnation')).toThrow(/locked/);
  closeStoreFile(opened);
  expect(other.get('SELECT id FROM incarnation')).toEqual({ id: opened.incarnation });
  other.close();
});

it('neither the secret of a gateway token nor its digest is written into the file', async () => {
  const direct = openDirectStore();
  const { text, id, secretDigest } = newTokenText();
  const token = { id, name: 'ci', scopes: ['operator'] as const };
  await direct.store.createToken({ token, secretDigest, lifetimeMs: 60_000 });
  await direct.store.proveToken({ id, secretDigest });
  const path = direct.database.get<{ file: string }>('PRAGMA database_list')!.file;
  direct.database.execute('PRAGMA wal_checkpoint(TRUNCATE)');
  const bytes = readFileSync(path);
  expect(bytes.includes(id)).toBe(true);
  for (const secret of [text.slice(-43), secretDigest, Buffer.from(secretDigest, 'hex')]) {
    expect(bytes.includes(secret)).toBe(false);
  }
  direct.remove();
});

it('neither a token nor the digest that callers show is written into the file', async () => {
  const direct = openDirectStore();
  const session = await openSession(direct.store);
  await direct.store.acceptCall(acceptRequest(session));
  const path = direct.database.get<{ file: string }>('PRAGMA database_list')!.file;
  direct.database.execute('PRAGMA wal_checkpoint(TRUNCATE)');
  const bytes = readFileSync(path);
  expect(bytes.includes(session.id)).toBe(true);
  expect(bytes.includes(session.tokenDigest)).toBe(false);
  expect(bytes.includes(Buffer.from(session.tokenDigest, 'hex'))).toBe(false);
  direct.remove();
});
