import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Database } from './database.ts';

test.each([
  ['as it is made', () => new Uint8Array()],
  ['over a buffer of its own', () => new Uint8Array(new ArrayBuffer(0))],
  ['that crossed a thread', () => structuredClone(new Uint8Array())],
])('an empty array %s is stored as empty bytes, not as NULL', (_, make) => {
  const database = new Database(':memory:', 0);
  try {
    database.execute('CREATE TABLE t (b BLOB NOT NULL)');
    database.insert('INSERT INTO t VALUES (?)', make());
    database.run('INSERT INTO t VALUES (?)', make());
    expect(database.get('SELECT count(*) AS n FROM t WHERE b IS ?', make())).toMatchObject({ n: 2 });
    expect(database.all('SELECT b FROM t WHERE b IS ?', make())).toHaveLength(2);
  } finally {
    database.close();
  }
});

test('a row number above 2^53 does not fail the write, nor those after it', () => {
  const database = new Database(':memory:', 0);
  try {
    database.execute('CREATE TABLE t (id INTEGER PRIMARY KEY)');
    expect(database.run('INSERT INTO t VALUES (9007199254740993)')).toBe(1);
    database.begin();
    expect(database.run('DELETE FROM t WHERE id > ?', 2 ** 53)).toBe(1);
    database.commit();
    expect(database.insert('INSERT INTO t VALUES (7)')).toBe(7);
  } finally {
    database.close();
  }
});

test('copyTo makes whole copies while rows are written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-copy-'));
  const database = new Database(join(folder, 'source.sqlite'), 1000);
  let isDone = false;
  try {
    database.execute('PRAGMA journal_mode = WAL; CREATE TABLE t (b BLOB NOT NULL)');
    const row = new Uint8Array(900);
    const write = (rows: number): void => {
      database.begin();
      for (let count = 0; count < rows; count += 1) database.insert('INSERT INTO t VALUES (?)', row);
      database.commit();
    };
    write(3000);
    const writing = (async () => {
      while (!isDone) {
        write(20);
        await nextTurn();
      }
    })();
    for (let number = 0; number < 4; number += 1) {
      const file = join(folder, `copy-${number}.sqlite`);
      await database.copyTo(file);
      const copy = new Database(file, 0);
      expect(copy.get('PRAGMA integrity_check')).toMatchObject({ integrity_check: 'ok' });
      expect(copy.get<{ n: number }>('SELECT count(*) AS n FROM t')!.n).toBeGreaterThanOrEqual(3000);
      copy.close();
      rmSync(file);
    }
    isDone = true;
    await writing;
  } finally {
    isDone = true;
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
