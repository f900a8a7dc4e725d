import type { Pool, PoolClient } from 'pg';

/** Key of an advisory lock, an arbitrary number. It makes two gateways that start together create the tables only once. */
const LOCK = 7_365_108;

const TABLES = `
  CREATE TABLE audit_version (version integer NOT NULL);
  INSERT INTO audit_version VALUES (1);
  CREATE TABLE audit_lane (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    store text NOT NULL,
    lane integer NOT NULL,
    sequence bigint NOT NULL,
    chain bytea NOT NULL,
    bytes bigint NOT NULL,
    fence bigint NOT NULL,
    UNIQUE (store, lane)
  );
  CREATE TABLE audit_record (
    lane_id integer NOT NULL REFERENCES audit_lane,
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    call_id text NOT NULL,
    tenant text NOT NULL,
    subject text NOT NULL,
    agent text NOT NULL,
    tool text NOT NULL,
    event text NOT NULL,
    outcome text,
    record text NOT NULL,
    chain bytea NOT NULL,
    PRIMARY KEY (lane_id, sequence)
  );
  CREATE INDEX audit_record_at ON audit_record (at);
  CREATE INDEX audit_record_call ON audit_record (call_id);
  CREATE INDEX audit_record_subject ON audit_record (tenant, subject);
  CREATE TABLE audit_payload (
    lane_id integer NOT NULL REFERENCES audit_lane,
    sequence bigint NOT NULL,
    salt bytea NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (lane_id, sequence)
  );
  CREATE TABLE audit_statement (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text text NOT NULL,
    key_id text NOT NULL,
    signature bytea NOT NULL
  );
`;

/**
 * Adds numbers to statements. Existing statements get numbers up to 0 in their order, because the chain begins with number 1. The column
 * has no default, so a gateway of an older release, which does not number its statements, can no longer add any.
 */
const NUMBER_STATEMENTS = `
  ALTER TABLE audit_statement ADD COLUMN number bigint;
  UPDATE audit_statement SET number = placed.number
    FROM (SELECT id, row_number() OVER (ORDER BY id) - count(*) OVER () AS number FROM audit_statement) AS placed
    WHERE placed.id = audit_statement.id;
  ALTER TABLE audit_statement ALTER COLUMN number SET NOT NULL, ADD UNIQUE (number);
`;

/** Each step brings the tables to the next version. */
const STEPS = [TABLES, NUMBER_STATEMENTS];

/** Creates the tables or migrates them to the current version, and refuses those of a newer release. */
export async function prepareSchema(pool: Pool, schema: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    const { rows } = await client.query(
      'SELECT 1 FROM information_schema.tables WHERE table_schema = $1 AND table_name = $2',
      [schema, 'audit_version'],
    );
    if (rows.length === 0) await client.query(TABLES);
    const found = (await client.query<{ version: number }>('SELECT version FROM audit_version')).rows[0]?.version ?? 0;
    if (found < 1 || found > STEPS.length)
      throw new Error(`its tables have version ${found}; this release knows ${STEPS.length}`);
    if (found === STEPS.length) return;
    for (const step of STEPS.slice(found)) await client.query(step);
    await client.query('UPDATE audit_version SET version = $1', [STEPS.length]);
  });
}

export async function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((problem: unknown) => (broken = problem as Error));
    throw error;
  } finally {
    client.release(broken);
  }
}
