import type { Pool } from 'pg';
import type { AuditFilter, ChainedRecord } from '../domain/audit/audit-record.ts';
import { findWrongColumn, isFoundRightly } from '../domain/audit/record-index.ts';
import type { QueryTrailRequest, TrailPage, TrailPlace } from '../domain/ports/audit-store.ts';

export interface RecordRow {
  readonly record: string;
  /** PostgreSQL returns 64-bit numbers as text. */
  readonly sequence: string;
  readonly at: string;
  readonly call_id: string;
  readonly tenant: string;
  readonly subject: string;
  readonly agent: string;
  readonly tool: string;
  readonly event: string;
  readonly outcome: string | null;
  readonly chain: Buffer;
  readonly salt: Buffer | null;
  readonly bytes: Buffer | null;
}

export const RECORD_COLUMNS = `record, sequence, at, call_id, tenant, subject, agent, tool, event, outcome,
  audit_record.chain, salt, audit_payload.bytes`;
export const RECORD_TABLES = 'audit_record LEFT JOIN audit_payload USING (lane_id, sequence)';
const KEY = '(at, lane_id, audit_record.sequence)';
const NEWEST_FIRST = 'ORDER BY at DESC, lane_id DESC, audit_record.sequence DESC';

export function toChained({ record, chain, salt, bytes, ...row }: RecordRow): ChainedRecord {
  const { sequence, at, call_id: callId, tenant, subject, agent, tool, event, outcome } = row;
  const index = { sequence, at, callId, tenant, subject, agent, tool, event, outcome };
  const wrongColumn = findWrongColumn(record, index);
  return {
    text: record,
    chain,
    ...(salt === null || bytes === null ? {} : { payload: { salt, bytes } }),
    ...(wrongColumn === undefined ? {} : { wrongColumn }),
  };
}

interface Place {
  readonly at: string;
  readonly lane_id: number;
  readonly sequence: string;
}

export async function queryTrail(pool: Pool, { filter, limit, before, scan }: QueryTrailRequest): Promise<TrailPage> {
  const range = rangeOf(filter);
  if (before !== undefined) await addBefore(pool, range, before);
  const last = scan === undefined ? undefined : await findLast(pool, range, scan);
  if (last !== undefined) range.add(`${KEY} >=`, last.at, last.lane_id, last.sequence);
  addFields(range, filter);
  const { rows } = await pool.query<RecordRow & Place>(
    `SELECT ${RECORD_COLUMNS}, lane_id FROM ${RECORD_TABLES} ${range.where} ${NEWEST_FIRST}
     LIMIT $${range.values.length + 1}`,
    [...range.values, limit],
  );
  const end = rows.length < limit ? last : rows.at(-1);
  const found = rows.map((row) => ({ row, chained: toChained(row) }));
  const strays = found.filter(({ chained }) => !isFoundRightly(chained, filter));
  return {
    records: found.filter((each) => !strays.includes(each)).map(({ chained }) => chained),
    ...(end === undefined ? {} : { next: await toPlace(pool, end) }),
    ...(strays.length === 0 ? {} : { strays: await Promise.all(strays.map(({ row }) => toPlace(pool, row))) }),
  };
}

class Conditions {
  readonly #parts: string[] = [];
  readonly values: unknown[] = [];

  /** Adds a comparison. One value is compared as it is, several as a row. An undefined value adds nothing. */
  add(left: string, ...values: (string | number | undefined)[]): void {
    if (values[0] === undefined) return;
    const names = values.map((value) => `$${this.values.push(value)}`);
    this.#parts.push(`${left} ${names.length === 1 ? names[0] : `(${names.join(', ')})`}`);
  }

  /** Adds the condition that the column's text contains this part. */
  addHolds(column: string, part: string): void {
    this.#parts.push(`strpos(${column}, $${this.values.push(part)}) > 0`);
  }

  get where(): string {
    return this.#parts.length === 0 ? '' : `WHERE ${this.#parts.join(' AND ')}`;
  }
}

function rangeOf({ from, to, callId }: AuditFilter): Conditions {
  const conditions = new Conditions();
  // Rows with a sequence below 1 are in no chain and do not belong to the trail.
  conditions.add('audit_record.sequence >', 0);
  conditions.add('at >=', from);
  conditions.add('at <', to);
  conditions.add('call_id =', callId);
  return conditions;
}

const FIELDS = ['tenant', 'subject', 'agent', 'tool', 'event'] as const;

function addFields(conditions: Conditions, filter: AuditFilter): void {
  for (const name of FIELDS) conditions.add(`${name} =`, filter[name]);
  // `by` has no column, because few records have it; the time range limits how many records are searched. It is compared as text, because a
  // record may contain characters that PostgreSQL does not accept as JSON (a zero character, half a surrogate pair). A quote inside a value
  // is escaped in the record's text, so a match is always a member and never part of a value.
  if (filter.by !== undefined) conditions.addHolds('record', JSON.stringify({ by: filter.by }).slice(1, -1));
  if (filter.outcome === 'not-ok') conditions.add('outcome <>', 'ok');
  else conditions.add('outcome =', filter.outcome);
}

async function addBefore(pool: Pool, range: Conditions, { at, store, lane, sequence }: TrailPlace): Promise<void> {
  const { rows } = await pool.query<{ id: number }>('SELECT id FROM audit_lane WHERE store = $1 AND lane = $2', [
    store,
    lane,
  ]);
  range.add(`${KEY} <`, at, rows[0]?.id ?? 0, sequence);
}

/** The last record that a query may examine; undefined if there are fewer than `scan`. */
async function findLast(pool: Pool, range: Conditions, scan: number): Promise<Place | undefined> {
  const { rows } = await pool.query<Place>(
    `SELECT at, lane_id, sequence FROM audit_record ${range.where} ${NEWEST_FIRST}
     LIMIT 1 OFFSET $${range.values.length + 1}`,
    [...range.values, scan - 1],
  );
  return rows[0];
}

async function toPlace(pool: Pool, place: Place): Promise<TrailPlace> {
  const { rows } = await pool.query<{ store: string; lane: number }>(
    'SELECT store, lane FROM audit_lane WHERE id = $1',
    [place.lane_id],
  );
  return { at: Number(place.at), ...rows[0]!, sequence: Number(place.sequence) };
}
