import { Pool, type PoolClient } from 'pg';
import type { AuditHead, ChainedRecord, PlacedStatement } from '../domain/audit/audit-record.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AuditBatch, AuditSink, CutRequest, EraseRequest, NextStatement } from '../domain/ports/audit-store.ts';
import { firstLink, parseRecord, sizeOfRecord } from '../domain/audit/record-bytes.ts';
import { indexText } from '../domain/audit/record-index.ts';
import { inTransaction, prepareSchema } from './postgres-schema.ts';
import { queryTrail, RECORD_COLUMNS, RECORD_TABLES, toChained, type RecordRow } from './postgres-query.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly password?: string;
  /** A schema used only for the audit. Several deployments can share one schema: each store has its own chains. */
  readonly schema: string;
}

const CONNECT_TIMEOUT_MS = 5000;
const STATEMENT_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 4;

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
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS + CONNECT_TIMEOUT_MS,
    // Every commit is on the server's disk before it is acknowledged, whatever the server's default is.
    options: `-c search_path=${schema} -c synchronous_commit=on`,
    application_name: 'sallyport',
  });
  // Ignores errors of idle connections. The next query that needs a connection gets its own error.
  pool.on('error', () => undefined);
  const withStoreError = async <Result>(work: Promise<Result>): Promise<Result> =>
    work.catch((error: unknown) => Promise.reject(unavailable(error)));
  try {
    await withStoreError(prepareSchema(pool, schema));
  } catch (error) {
    await pool.end();
    throw error;
  }
  return {
    openLane: (request) => withStoreError(openLane(pool, request)),
    commit: (batch) => withStoreError(inTransaction(pool, (client) => commit(client, batch))),
    auditHeads: () => withStoreError(readHeads(pool)),
    readTrail: ({ store, lane, fromSequence, limit }) =>
      withStoreError(
        readRecords(
          pool,
          `WHERE lane_id = (SELECT id FROM audit_lane WHERE store = $1 AND lane = $2) AND audit_record.sequence >= $3
           ORDER BY audit_record.sequence LIMIT $4`,
          [store, lane, fromSequence, limit],
        ),
      ),
    queryTrail: (request) => withStoreError(queryTrail(pool, request)),
    addStatement: (statement) => withStoreError(inTransaction(pool, (client) => addStatement(client, statement))),
    listStatements: ({ after, limit }) => withStoreError(listStatements(pool, after, limit)),
    lastStatement: () => withStoreError(lastStatement(pool)),
    erasePayloads: (request) => withStoreError(inTransaction(pool, (client) => erasePayloads(client, request))),
    cutTrail: (request) => withStoreError(inTransaction(pool, (client) => cutTrail(client, request))),
    close: () => pool.end(),
  };
}

/** Puts the password into the URL: the client would ignore a password that is given next to a URL. */
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

async function erasePayloads(client: PoolClient, request: EraseRequest): Promise<number | 'stale'> {
  if ((await addStatement(client, request.statement)) === 'stale') return 'stale';
  let erased = 0;
  for (const { store, lane, sequence } of request.heads) {
    const values = [store, lane, sequence, request.tenant, request.subject];
    const { rows } = await client.query<{ count: string }>(ERASE, values);
    erased += Number(rows[0]!.count);
  }
  return erased;
}

async function cutTrail(client: PoolClient, { cut, statement, drop }: CutRequest): Promise<'cut' | 'stale'> {
  if ((await addStatement(client, statement)) === 'stale') return 'stale';
  await client.query(CUT, [cut.store, cut.lane, cut.sequence]);
  if (drop !== undefined) {
    const sql = 'DELETE FROM audit_statement WHERE number <= $1 AND number <> ALL ($2::bigint[])';
    await client.query(sql, [drop.through, drop.keep]);
  }
  return 'cut';
}

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

/**
 * Adds records and moves the head. The head moves only if it is still where the caller saw it, and if no owner with a higher fence has
 * committed.
 */
async function commit(client: PoolClient, batch: AuditBatch): Promise<'committed' | 'fenced'> {
  const { store, lane, fence, previous, records } = batch;
  const chain = records.at(-1)?.chain ?? previous.chain;
  // After an accepted gap, the first record has a higher number than the one after the head.
  const sequence = records.length === 0 ? previous.sequence : parseRecord(records.at(-1)!.text)!.sequence;
  const size = records.reduce((sum, record) => sum + sizeOfRecord(record), 0);
  const { rows } = await client.query<{ id: number }>(
    `UPDATE audit_lane SET sequence = $1, chain = $2, bytes = bytes + $3, fence = $4
     WHERE store = $5 AND lane = $6 AND sequence = $7 AND chain = $8 AND fence <= $4 RETURNING id`,
    [sequence, Buffer.from(chain), size, fence, store, lane, previous.sequence, Buffer.from(previous.chain)],
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
      parsed.map(({ callId }) => indexText(callId ?? '')),
      parsed.map(({ tenant }) => indexText(tenant ?? '')),
      parsed.map(({ subject }) => indexText(subject ?? '')),
      parsed.map(({ agent }) => indexText(agent ?? '')),
      parsed.map(({ tool }) => indexText(tool ?? '')),
      parsed.map(({ event }) => indexText(event)),
      parsed.map(({ outcome }) => (outcome === undefined ? null : indexText(outcome))),
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

async function readHeads(pool: Pool): Promise<AuditHead[]> {
  const { rows } = await pool.query<LaneRow>('SELECT * FROM audit_lane ORDER BY store, lane');
  return rows.map(toHead);
}

async function readRecords(pool: Pool, rest: string, values: unknown[]): Promise<ChainedRecord[]> {
  const { rows } = await pool.query<RecordRow>(`SELECT ${RECORD_COLUMNS} FROM ${RECORD_TABLES} ${rest}`, values);
  return rows.map(toChained);
}

/**
 * Adds the next statement of the chain. The table lock is held until the transaction ends. A second gateway waits for it, and then gets
 * `stale`.
 */
async function addStatement(client: PoolClient, statement: NextStatement): Promise<'added' | 'stale'> {
  const { number, after, text, keyId, signature } = statement;
  await client.query('LOCK TABLE audit_statement IN SHARE ROW EXCLUSIVE MODE');
  const { rowCount } = await client.query(
    `INSERT INTO audit_statement (number, text, key_id, signature) SELECT $1, $2, $3, $4
     WHERE (SELECT coalesce(max(number), 0) FROM audit_statement) = $5`,
    [number, text, keyId, Buffer.from(signature), after],
  );
  return rowCount === 1 ? 'added' : 'stale';
}

type StatementRow = Omit<PlacedStatement, 'number'> & { readonly number: string };
const STATEMENT = 'SELECT number, text, key_id AS "keyId", signature FROM audit_statement';

const toPlaced = (row: StatementRow): PlacedStatement => ({ ...row, number: Number(row.number) });

async function listStatements(pool: Pool, after: number | undefined, limit: number): Promise<PlacedStatement[]> {
  const where = after === undefined ? '' : 'WHERE number > $2';
  const values = after === undefined ? [limit] : [limit, after];
  const { rows } = await pool.query<StatementRow>(`${STATEMENT} ${where} ORDER BY number LIMIT $1`, values);
  return rows.map(toPlaced);
}

async function lastStatement(pool: Pool): Promise<PlacedStatement | undefined> {
  const { rows } = await pool.query<StatementRow>(`${STATEMENT} ORDER BY number DESC LIMIT 1`);
  return rows[0] && toPlaced(rows[0]);
}

function unavailable(error: unknown): Error {
  const problem =
    error instanceof Error ? error.message || (error as { code?: string }).code || error.name : String(error);
  return planeError('AUDIT_SINK_UNAVAILABLE', { problem }, error);
}
