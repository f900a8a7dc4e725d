import { chmodSync, closeSync, openSync } from 'node:fs';
import { planeError } from '../../../domain/errors/errors.ts';
import type { AuditBatch, AuditSink } from '../../../domain/ports/audit-store.ts';
import { Database } from '../database.ts';
import { queryTrail } from './query-trail.ts';
import * as read from './read-trail.ts';
import { AUDIT_TABLES, NUMBER_STATEMENTS } from './schema.ts';
import * as write from './write-trail.ts';
import { parseRecord, sizeOfRecord } from '../../../domain/audit/record-bytes.ts';
import { indexText } from '../../../domain/audit/record-index.ts';

/** 'SLPA': marks a file that contains audit records and nothing else. */
const APPLICATION_ID = 0x534c5041;
/** Each step brings a file to the next version. */
const STEPS = [AUDIT_TABLES, NUMBER_STATEMENTS];
const BUSY_TIMEOUT_MS = 5000;

/**
 * A sink in one file, for a deployment with one drainer. Every commit is on disk before it returns. Other processes may read the file at
 * the same time.
 */
export async function openSqliteSink(file: string): Promise<AuditSink> {
  const database = openFile(file);

  async function transact<Result>(work: () => Result): Promise<Result> {
    try {
      database.begin();
      const result = work();
      database.commit();
      database.emptyLog();
      return result;
    } catch (error) {
      database.rollback();
      throw unavailable(error);
    }
  }

  return {
    openLane: ({ store, lane }) => transact(() => write.openAuditLane(database, store, lane)),
    commit: (batch) => transact(() => commit(database, batch)),
    auditHeads: () => transact(() => read.readHeads(database)),
    readTrail: (request) => transact(() => read.readTrail(database, request)),
    queryTrail: (request) => transact(() => queryTrail(database, request)),
    addStatement: (statement) =>
      transact(() => (write.insertStatement(database, statement) ? 'added' : ('stale' as const))),
    listStatements: (request) => transact(() => read.listStatements(database, request)),
    lastStatement: () => transact(() => read.lastStatement(database)),
    async erasePayloads(request) {
      const answer = await transact(() => write.erasePayloads(database, request));
      if (answer === 'stale') return answer;
      if (!database.emptyLog())
        throw unavailable(new Error(`${file}-wal is in use and holds what was erased; erase again`));
      return answer.erased;
    },
    cutTrail: (request) => transact(() => (write.cutTrail(database, request) === 'stale' ? 'stale' : ('cut' as const))),
    close: async () => database.close(),
  };
}

function commit(database: Database, { store, lane, fence, previous, records }: AuditBatch): 'committed' | 'fenced' {
  const head = write.openAuditLane(database, store, lane);
  const isWhereSeen = head.sequence === previous.sequence && Buffer.compare(head.chain, previous.chain) === 0;
  if (!isWhereSeen || head.fence > fence) return 'fenced';
  let { sequence, chain, bytes } = head;
  for (const record of records) {
    const { at, callId = '', sequence: own } = parseRecord(record.text)!;
    // After an accepted gap, the number is higher than the one after the head.
    sequence = own;
    ({ chain } = record);
    bytes += sizeOfRecord(record);
    write.insertRecord(database, head.id, { ...record, sequence, at, callId: indexText(callId) });
  }
  write.moveHead(database, head.id, { sequence, chain, bytes });
  database.run('UPDATE auditLane SET fence = ? WHERE id = ?', fence, head.id);
  return 'committed';
}

function openFile(file: string): Database {
  let database: Database | undefined;
  try {
    // The file is created before SQLite creates it, because the log next to it gets the same mode.
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
    database = new Database(file, BUSY_TIMEOUT_MS);
    database.execute('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    prepare(database, file);
    return database;
  } catch (error) {
    database?.close();
    throw unavailable(error);
  }
}

function prepare(database: Database, file: string): void {
  database.begin();
  try {
    const tables = database.get<{ found: number }>('SELECT count(*) AS found FROM sqlite_schema')!.found;
    const id = database.get<{ application_id: number }>('PRAGMA application_id')!.application_id;
    const version = database.get<{ user_version: number }>('PRAGMA user_version')!.user_version;
    if (tables > 0 && (id !== APPLICATION_ID || version < 1 || version > STEPS.length)) {
      throw new Error(`${file} is no audit file of this release`);
    }
    if (tables === 0 || version < STEPS.length) {
      for (const step of STEPS.slice(tables === 0 ? 0 : version)) database.execute(step);
      database.execute(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${STEPS.length};`);
    }
    database.commit();
  } catch (error) {
    database.rollback();
    throw error;
  }
}

function unavailable(error: unknown): Error {
  return planeError(
    'AUDIT_SINK_UNAVAILABLE',
    { problem: error instanceof Error ? error.message : String(error) },
    error,
  );
}
