import { afterAll, expect, it } from 'vitest';
import { startPostgres } from '../support/postgres-server.ts';
import { failOnLeaks } from '../support/reaper.ts';

afterAll(failOnLeaks);

it('a private PostgreSQL answers, comes back after a crash with its data, and leaves nothing behind', async () => {
  const server = await startPostgres();
  await server.query('CREATE TABLE kept (n integer)');
  await server.query('INSERT INTO kept VALUES (7)');
  await server.crash();
  await expect(server.query('SELECT n FROM kept')).rejects.toThrow(/ECONNREFUSED|terminat|ended/i);
  await server.restart();
  expect(await server.query('SELECT n FROM kept')).toEqual([{ n: 7 }]);
  await server.stop();
});
