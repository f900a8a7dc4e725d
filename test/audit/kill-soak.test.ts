import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BACKENDS } from '../plane/support/stage-plane.ts';
import { startPostgres, type PostgresServer } from '../support/postgres-server.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { runKillSoak } from './kill-soak.ts';

/** The number of calls; `npm run soak:audit` sets a larger one. */
const CALLS = Number(process.env['SALLYPORT_SOAK_CALLS'] ?? '150');
const PER_CALL_MS = 400;

let postgres: PostgresServer;
beforeAll(async () => void (postgres = await startPostgres()));
afterAll(async () => {
  await postgres.stop();
  failOnLeaks();
});

describe.each(BACKENDS)('the audit of calls on %s whose workers and gateways are killed', (backend) => {
  it(
    'verifies, and has exactly the records of every call',
    async () => {
      await expect(runKillSoak(backend, CALLS, postgres)).resolves.toBeUndefined();
    },
    600_000 + CALLS * PER_CALL_MS,
  );
});
