import type { AuditFilter } from '../../../domain/audit/audit-record.ts';
import type { QueryTrailRequest, TrailPage, TrailPlace } from '../../../domain/ports/audit-store.ts';
import { isFoundRightly } from '../../../domain/audit/record-index.ts';
import type { Database, SqlValue } from '../database.ts';
import { COLUMNS, JOINED, toChained, type RecordRow } from './read-trail.ts';

/** The order of the index on `at`: SQLite appends the primary key to the indexed column. */
const KEY = '(at, laneId, sequence)';
const NEWEST_FIRST = 'ORDER BY at DESC, laneId DESC, sequence DESC';

interface Place {
  readonly at: number;
  readonly laneId: number;
  readonly sequence: number;
}

/**
 * Finds records, newest first. Time, call and place are looked up in indexes. For every other condition, records are read and checked one
 * after the other.
 */
export function queryTrail(database: Database, { filter, limit, before, scan }: QueryTrailRequest): TrailPage {
  const range = rangeOf(filter);
  if (before !== undefined) addBefore(database, range, before);
  const last = scan === undefined ? undefined : findLast(database, range, scan);
  const tried = fieldsOf(filter);
  const conditions = [...range.conditions, ...(last === undefined ? [] : [`${KEY} >= (?, ?, ?)`]), ...tried.conditions];
  const rows = database.all<RecordRow & Place>(
    `SELECT ${COLUMNS}, at, laneId, sequence FROM ${JOINED} ${whereOf(conditions)} ${NEWEST_FIRST} LIMIT ?`,
    ...range.values,
    ...(last === undefined ? [] : [last.at, last.laneId, last.sequence]),
    ...tried.values,
    limit,
  );
  const end = rows.length < limit ? last : rows.at(-1);
  const found = rows.map((row) => ({ row, chained: toChained(row) }));
  const strays = found.filter(({ chained }) => !isFoundRightly(chained, filter));
  return {
    records: found.filter((each) => !strays.includes(each)).map(({ chained }) => chained),
    ...(end === undefined ? {} : { next: toPlace(database, end) }),
    ...(strays.length === 0 ? {} : { strays: strays.map(({ row }) => toPlace(database, row)) }),
  };
}

interface Conditions {
  readonly conditions: string[];
  readonly values: SqlValue[];
}

/**
 * Conditions that leave out rows that are in no chain: an attacker can insert such rows, and `verify` could not detect that. The unary plus
 * makes SQLite keep using the index on `at`.
 */
const IN_A_CHAIN = ['+sequence > 0', '+laneId IN (SELECT id FROM auditLane)'];

function rangeOf({ from, to, callId }: AuditFilter): Conditions {
  const conditions = [...IN_A_CHAIN];
  const values: SqlValue[] = [];
  const add = (condition: string, value: SqlValue | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('at >= ?', from);
  add('at < ?', to);
  add('callId = ?', callId);
  return { conditions, values };
}

function addBefore(database: Database, { conditions, values }: Conditions, before: TrailPlace): void {
  const { at, store, lane, sequence } = before;
  const known = database.get<{ id: number }>('SELECT id FROM auditLane WHERE store = ? AND lane = ?', store, lane);
  conditions.push(`${KEY} < (?, ?, ?)`);
  values.push(at, known?.id ?? 0, sequence);
}

/** Returns the last record that the query may look at; undefined when there are fewer records. Needs only the index. */
function findLast(database: Database, { conditions, values }: Conditions, scan: number): Place | undefined {
  return database.get<Place>(
    `SELECT at, laneId, sequence FROM auditRecord ${whereOf(conditions)} ${NEWEST_FIRST} LIMIT 1 OFFSET ?`,
    ...values,
    scan - 1,
  );
}

function toPlace(database: Database, { at, laneId, sequence }: Place): TrailPlace {
  const lane = database.get<{ store: string; lane: number }>('SELECT store, lane FROM auditLane WHERE id = ?', laneId)!;
  return { at, store: lane.store, lane: lane.lane, sequence };
}

const FIELDS = ['tenant', 'subject', 'agent', 'tool', 'event', 'by'] as const;

function fieldsOf(filter: AuditFilter): Conditions {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, value: SqlValue): void => {
    conditions.push(condition);
    values.push(value);
  };
  for (const name of FIELDS) {
    const value = filter[name];
    if (value !== undefined) add(`json_extract(record, '$.${name}') = ?`, value);
  }
  const { outcome } = filter;
  if (outcome === 'not-ok') add(`json_extract(record, '$.outcome') <> ?`, 'ok');
  else if (outcome !== undefined) add(`json_extract(record, '$.outcome') = ?`, outcome);
  return { conditions, values };
}

function whereOf(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}
