import { Pool, type PoolClient } from 'pg';
import type { AuditHead, ChainedRecord, SignedStatement } from '../domain/audit-record.ts';
import { planeError } from '../domain/errors.ts';
import type { AuditBatch, AuditSink } from '../ports/audit-store.ts';
import { firstLink, parseRecord, sizeOfRecord } from '../wire/audit-record.ts';
import { inTransaction, prepareSchema } from './postgres-schema.ts';
import { queryTrail, RECORD_COLUMNS, RECORD_TABLES, toChained, type RecordRow } from './postgres-query.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly password?: string;
  /** A schema of its own; several deployments can share one, each with chains of its own. */
  readonly schema: string;
}

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
const MOST_CONNECTIONS = 4;

interface LaneRow {
  readonly id: number;
  readonly store: string;
  readonly lane: number;
  readonly sequence: string;
  readonly chain: Buffer;
  readonly bytes: string;
  readonly fence: string;
}

export async function openPostgresSink({ url, password, schema }: PostgresOptions): Promise<AuditSink> {
  const pool = new Pool({
    connectionString: withPassword(url, password),
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + CONNECT_TIMEOUT_MS,
    // Every commit is on the server's disk before it is answered, whatever its default says.
    options: `-c search_path=${schema} -c synchronous_commit=on`,
    application_name: 'sallyport',
  });
  // Of connections that stand idle; whoever needs one next is told.
  pool.on('error', () => undefined);
  const told = async <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => Promise.reject(unavailable(error)));
  try {
    await told(prepareSchema(pool, schema));
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    openLane: (request) => told(openLane(pool, request)),
    commit: (batch) => told(inTransaction(pool, (client) => commit(client, batch))),
    auditHeads: () => told(readHeads(pool)),
    readTrail: ({ store, lane, fromSequence, limit }) =>
      told(
        readRecords(
          pool,
          `WHERE lane_id = (SELECT id FROM audit_lane WHERE store = $1 AND lane = $2) AND audit_record.sequence >= $3
           ORDER BY audit_record.sequence LIMIT $4`,
          [store, lane, fromSequence, limit],
        ),
      ),
    queryTrail: (request) => told(queryTrail(pool, request)),
    addStatement: (statement) => told(addStatement(pool, statement)),
    listStatements: ({ from, limit }) => told(listStatements(pool, from, limit)),
    erasePayloads: (request) =>
      told(
        inTransaction(pool, async (client) => {
          let erased = 0;
          for (const { store, lane, sequence } of request.heads) {
            const { rows } = await client.query<{ count: string }>(ERASE, [
              store,
              lane,
              sequence,
              request.tenant,
              request.subject,
            ]);
            erased += Number(rows[0]!.count);
          }
          await addStatement(client, request.statement);
          return erased;
        }),
      ),
    cutTrail: ({ cut, statement }) =>
      told(
        inTransaction(pool, async (client) => {
          await client.query(CUT, [cut.store, cut.lane, cut.sequence]);
          await addStatement(client, statement);
          await client.query(FORGET_STATEMENTS);
        }),
      ),
    close: () => pool.end(),
  };
}

/** Beside an address the client would ignore it. */
function withPassword(url: string, password: string | undefined): string {
  if (password === undefined) return url;
  const address = new URL(url);
  address.password = encodeURIComponent(password);
  return address.href;
}

const ERASE = `
  WITH own AS (SELECT id FROM audit_lane WHERE store = $1 AND lane = $2),
  gone AS (
    DELETE FROM audit_payload p USING audit_record r, own
    WHERE p.lane_id = own.id AND r.lane_id = own.id AND r.sequence = p.sequence
      AND r.sequence <= $3 AND r.tenant = $4 AND r.subject = $5
    RETURNING length(p.bytes) AS size
  ),
  freed AS (UPDATE audit_lane SET bytes = bytes - (SELECT coalesce(sum(size), 0) FROM gone) WHERE id = (SELECT id FROM own))
  SELECT count(*) AS count FROM gone`;

const CUT = `
  WITH own AS (SELECT id FROM audit_lane WHERE store = $1 AND lane = $2),
  payloads AS (DELETE FROM audit_payload WHERE lane_id = (SELECT id FROM own) AND sequence <= $3 RETURNING length(bytes) AS size),
  records AS (
    DELETE FROM audit_record WHERE lane_id = (SELECT id FROM own) AND sequence <= $3 RETURNING octet_length(record) AS size
  ),
  gone AS (SELECT size FROM payloads UNION ALL SELECT size FROM records)
  UPDATE audit_lane SET bytes = bytes - (SELECT coalesce(sum(size), 0) FROM gone) WHERE id = (SELECT id FROM own)`;

/** As in `write-trail.ts`: statements about nothing but records that were cut, from the oldest on; the last heads stay. */
const FORGET_STATEMENTS = `
  DELETE FROM audit_statement AS statement
  WHERE id IN (SELECT id FROM audit_statement ORDER BY id LIMIT 200)
    AND id IS DISTINCT FROM (SELECT id FROM audit_statement WHERE text::jsonb ->> 'kind' = 'heads' ORDER BY id DESC LIMIT 1)
    AND text::jsonb ->> 'kind' IN ('heads', 'erasure', 'cut')
    AND NOT EXISTS (
      SELECT 1 FROM jsonb_array_elements(coalesce(text::jsonb -> 'heads', jsonb_build_array(text::jsonb -> 'cut'))) AS head
      LEFT JOIN audit_lane ON audit_lane.store = head ->> 'store' AND audit_lane.lane = (head ->> 'lane')::integer
      WHERE (head ->> 'sequence')::bigint + (CASE WHEN statement.text::jsonb ->> 'kind' = 'cut' THEN 1 ELSE 0 END)
        > coalesce((SELECT min(sequence) - 1 FROM audit_record WHERE lane_id = audit_lane.id), audit_lane.sequence, 0)
    )`;

async function openLane(pool: Pool, { store, lane }: { store: string; lane: number }) {
  await pool.query(
    `INSERT INTO audit_lane (store, lane, sequence, chain, bytes, fence) VALUES ($1, $2, 0, $3, 0, 0)
     ON CONFLICT (store, lane) DO NOTHING`,
    [store, lane, Buffer.from(firstLink(store, lane))],
  );
  const { rows } = await pool.query<LaneRow>('SELECT * FROM audit_lane WHERE store = $1 AND lane = $2', [store, lane]);
  return { ...toHead(rows[0]!), fence: Number(rows[0]!.fence) };
}

function toHead({ store, lane, sequence, chain, bytes }: LaneRow): AuditHead {
  return { store, lane, sequence: Number(sequence), chain, bytes: Number(bytes) };
}

/** The head moves only from where the caller saw it, and never by an owner that came before the last one. */
async function commit(client: PoolClient, batch: AuditBatch): Promise<'committed' | 'fenced'> {
  const { store, lane, fence, previous, records } = batch;
  const chain = records.at(-1)?.chain ?? previous.chain;
  const size = records.reduce((sum, record) => sum + sizeOfRecord(record), 0);
  const { rows } = await client.query<{ id: number }>(
    `UPDATE audit_lane SET sequence = sequence + $1, chain = $2, bytes = bytes + $3, fence = $4
     WHERE store = $5 AND lane = $6 AND sequence = $7 AND chain = $8 AND fence <= $4 RETURNING id`,
    [records.length, Buffer.from(chain), size, fence, store, lane, previous.sequence, Buffer.from(previous.chain)],
  );
  const [moved] = rows;
  if (moved === undefined) return 'fenced';
  await insertRecords(client, moved.id, records);
  return 'committed';
}

async function insertRecords(client: PoolClient, laneId: number, records: readonly ChainedRecord[]): Promise<void> {
  const parsed = records.map(({ text }) => parseRecord(text)!);
  await client.query(
    `INSERT INTO audit_record SELECT $1, * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[], $11::text[], $12::bytea[])`,
    [
      laneId,
      parsed.map(({ sequence }) => sequence),
      parsed.map(({ at }) => at),
      parsed.map(({ callId }) => searchable(callId)),
      parsed.map(({ tenant }) => searchable(tenant)),
      parsed.map(({ subject }) => searchable(subject)),
      parsed.map(({ agent }) => searchable(agent)),
      parsed.map(({ tool }) => searchable(tool)),
      parsed.map(({ event }) => searchable(event)),
      parsed.map(({ outcome }) => outcome ?? null),
      records.map(({ text }) => text),
      records.map(({ chain }) => Buffer.from(chain)),
    ],
  );
  const payloads = records.flatMap(({ payload }, index) =>
    payload === undefined ? [] : [{ sequence: parsed[index]!.sequence, ...payload }],
  );
  await client.query('INSERT INTO audit_payload SELECT $1, * FROM unnest($2::bigint[], $3::bytea[], $4::bytea[])', [
    laneId,
    payloads.map(({ sequence }) => sequence),
    payloads.map(({ salt }) => Buffer.from(salt)),
    payloads.map(({ bytes }) => Buffer.from(bytes)),
  ]);
}

/** The record itself escapes it; a column cannot hold it, and no record may stop the ones behind it. */
const searchable = (text: string): string => text.replaceAll('\0', '\uFFFD');

async function readHeads(pool: Pool): Promise<AuditHead[]> {
  const { rows } = await pool.query<LaneRow>('SELECT * FROM audit_lane ORDER BY store, lane');
  return rows.map(toHead);
}

async function readRecords(pool: Pool, rest: string, values: unknown[]): Promise<ChainedRecord[]> {
  const { rows } = await pool.query<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} ${rest}`, values);
  return rows.map(toChained);
}

async function addStatement(client: Pool | PoolClient, { text, keyId, signature }: SignedStatement): Promise<void> {
  const values = [text, keyId, Buffer.from(signature)];
  await client.query('INSERT INTO audit_statement (text, key_id, signature) VALUES ($1, $2, $3)', values);
}

async function listStatements(pool: Pool, from: number, limit: number): Promise<SignedStatement[]> {
  const { rows } = await pool.query<SignedStatement>(
    'SELECT text, key_id AS "keyId", signature FROM audit_statement ORDER BY id LIMIT $1 OFFSET $2',
    [limit, from],
  );
  return rows;
}

function unavailable(error: unknown): Error {
  const problem =
    error instanceof Error ? error.message || (error as { code?: string }).code || error.name : String(error);
  return planeError('AUDIT_SINK_UNAVAILABLE', { problem }, error);
}
