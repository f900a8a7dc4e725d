import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgresSink } from '../../src/audit/postgres-sink.ts';
import { signHeads } from '../../src/audit/sign-heads.ts';
import { readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { openSqliteSink } from '../../src/stores/sqlite/audit/sqlite-sink.ts';
import { openSigner } from '../../src/audit/statement-signer.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import type { AuditSink } from '../../src/domain/ports/audit-store.ts';
import { Database } from '../../src/stores/sqlite/database.ts';
import { AUDIT_TABLES } from '../../src/stores/sqlite/audit/schema.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { append, startPostgres } from './trails.ts';

let server: PostgresServer;
let folder: TemporaryFolder;
beforeAll(async () => {
  server = await startPostgres();
  folder = temporaryFolder();
});
afterAll(async () => {
  await server.stop();
  folder.remove();
  failOnLeaks();
});

/** A sink of the previous release: tables of version 1, and statements without numbers. */
interface OldSink {
  add(text: string): Promise<void>;
  open(): Promise<AuditSink>;
}

async function oldPostgres(): Promise<OldSink> {
  const schema = 'old_sink';
  const open = () => openPostgresSink({ url: server.url, schema });
  await (await open()).close();
  const use = `SET search_path = ${schema};`;
  await server.query(`${use} ALTER TABLE audit_statement DROP COLUMN number; UPDATE audit_version SET version = 1`);
  return {
    add: async (text) =>
      void (await server.query(
        `${use} INSERT INTO audit_statement (text, key_id, signature) VALUES ('${text}', 'k', '\\x00')`,
      )),
    open,
  };
}

function oldSqlite(): Promise<OldSink> {
  const file = join(folder.path, 'old.sqlite');
  const change = (sql: string): void => {
    const database = new Database(file, 1000);
    database.execute(sql);
    database.close();
  };
  change(`${AUDIT_TABLES} PRAGMA application_id = ${0x534c5041}; PRAGMA user_version = 1;`);
  const add = (text: string): void =>
    change(`INSERT INTO auditStatement (text, keyId, signature) VALUES ('${text}', 'k', x'00')`);
  return Promise.resolve({ add: async (text) => add(text), open: () => openSqliteSink(file) });
}

describe.each([
  ['postgres', oldPostgres],
  ['sqlite', oldSqlite],
])('a sink of the release before on %s', (name, make) => {
  it('keeps its statements in their order, and takes none without a number any more', async () => {
    const old = await make();
    await old.add('one');
    await old.add('two');
    await old.add('three');
    const sink = await old.open();
    const listed = (await sink.listStatements({ limit: 9 })).map(({ number, text }) => [number, text]);
    expect(listed).toEqual([
      [-2, 'one'],
      [-1, 'two'],
      [0, 'three'],
    ]);
    await expect(old.add('four')).rejects.toThrow(/null|NOT NULL/);
    await append(sink, 2);
    const keys = join(folder.path, `keys-${name}`);
    await signHeads(sink, openSigner(keys), 1);
    const last = await sink.lastStatement();
    expect(JSON.parse(last!.text)).toMatchObject({ kind: 'chain-start', number: 1, older: 3 });
    await sink.close();
    const again = await old.open();
    expect(await again.lastStatement()).toEqual(last);
    // The three old statements are signed with a key that is not trusted. Verify reports it, although statement 1 covers them.
    const { problem } = await verifyTrail(again, readTrustedKeys(keys));
    expect(problem?.what).toContain('signed statement -2: it is signed by key k');
    await again.close();
  });
});
