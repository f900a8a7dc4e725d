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
