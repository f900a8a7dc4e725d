import type { AuditHead, AuditRecord, StatementMark } from '../../../domain/audit/audit-record.ts';
import type {
  AuditEntry,
  AuditState,
  ClaimAuditAnswer,
  ClaimAuditRequest,
  CutRequest,
  EraseRequest,
  JournalPage,
  NextStatement,
  QueryTrailRequest,
  ReadAuditRequest,
  ReadTrailRequest,
} from '../../../domain/ports/audit-store.ts';
import { queryTrail as query } from '../../sqlite/audit/query-trail.ts';
import * as read from '../../sqlite/audit/read-trail.ts';
import * as write from '../../sqlite/audit/write-trail.ts';
import type { Transaction } from '../transaction.ts';

export const auditHeads = (transaction: Transaction): AuditHead[] => {
  // The head that this transaction has moved is still only in memory, so it is written to the table before the table is read.
  transaction.lane.flush(transaction.now);
  return read.readHeads(transaction.database);
};

export const readTrail = ({ database }: Transaction, request: ReadTrailRequest) => read.readTrail(database, request);
export const queryTrail = ({ database }: Transaction, request: QueryTrailRequest) => query(database, request);

export const addStatement = ({ database }: Transaction, statement: NextStatement): 'added' | 'stale' =>
  write.insertStatement(database, statement) ? 'added' : 'stale';

export const listStatements = ({ database }: Transaction, request: { after?: number; limit: number }) =>
  read.listStatements(database, request);
export const lastStatement = ({ database }: Transaction) => read.lastStatement(database);

export function erasePayloads({ database, lane }: Transaction, request: EraseRequest): number | 'stale' {
  const answer = write.erasePayloads(database, request);
  if (answer === 'stale') return answer;
  lane.freeAudit(answer.bytes.get(0) ?? 0);
  return answer.erased;
}

export function cutTrail({ database, lane }: Transaction, request: CutRequest): 'cut' | 'stale' {
  const freed = write.cutTrail(database, request);
  if (freed === 'stale') return freed;
  lane.freeAudit(freed);
  return 'cut';
}

export function noteStatement({ database }: Transaction, { number, hash }: StatementMark): void {
  database.run(
    `INSERT INTO auditMark VALUES (1, ?, ?)
     ON CONFLICT (id) DO UPDATE SET number = excluded.number, hash = excluded.hash WHERE excluded.number > auditMark.number`,
    number,
    hash,
  );
}

export const statementMark = ({ database }: Transaction): StatementMark | undefined =>
  database.get<StatementMark>('SELECT number, hash FROM auditMark');

/**
 * This store has no journal to drain, so no process may drain it. A drainer of an earlier release gets the answer that the store itself
 * holds the right to drain.
 */
export const claimAudit = (_: Transaction, _request: ClaimAuditRequest): ClaimAuditAnswer => ({
  kind: 'held',
  by: 'the store itself',
});
export const drainAudit = (): 'fenced' => 'fenced';
export const alarmAudit = (): 'fenced' => 'fenced';
export const boundAudit = (): void => undefined;

/** Returns the entries that the records were made of. An erased record has no detail. */
export function readAudit({ database, file }: Transaction, request: ReadAuditRequest): AuditEntry[] {
  const found = read.readTrail(database, { store: file.incarnation, ...request });
  return found.map(({ text, payload }) => toEntry(JSON.parse(text) as AuditRecord, payload?.bytes ?? NOTHING));
}

const WHERE_KNOWN = ['callId', 'tool', 'session', 'run', 'bodyDigest', 'approval', 'grant'] as const;
const NOTHING = new Uint8Array(0);

function toEntry(record: AuditRecord, detail: Uint8Array): AuditEntry {
  const { lane, sequence, at, event } = record;
  const { tenant, subject, agent, channel, space, platform, delegators, unattended } = record;
  const identity = JSON.stringify({ agent, channel, delegators, platform, space, subject, tenant, unattended });
  const entry = { lane, sequence, at, event, detail, ...(tenant === undefined ? {} : { identity }) };
  for (const name of WHERE_KNOWN) if (record[name] !== undefined) Object.assign(entry, { [name]: record[name] });
  return entry;
}

/**
 * Each record is written to the trail in the same transaction as the change that it records. So there is nothing to drain, and nothing can
 * be late.
 */
export function auditState({ lane, now, file }: Transaction): AuditState {
  const sequence = lane.auditSequence;
  const state = { store: file.incarnation, sequence, drained: sequence, drainedAt: now, now };
  const journal = { waiting: 0, surplus: 0, foreign: 0, foreignAt: 0 };
  return { ...state, ...journal, kept: true, refuses: 'nothing' };
}

export function readJournal({ lane, file }: Transaction): JournalPage {
  const counted = lane.auditSequence;
  const empty = { removed: 0, surplus: 0, foreign: 0, length: 0, position: 0, elements: [] };
  return { store: file.incarnation, counted, drained: counted, ...empty };
}

export const moveAudit = (): boolean => false;
