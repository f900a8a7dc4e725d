import type { AuditHead, SignedHead, SignedStatement } from '../../../domain/audit-record.ts';
import type {
  ClaimAuditAnswer,
  ClaimAuditRequest,
  EraseRequest,
  QueryTrailRequest,
  ReadTrailRequest,
} from '../../../ports/audit-store.ts';
import { queryTrail as query } from '../../sqlite-audit/query-trail.ts';
import * as read from '../../sqlite-audit/read-trail.ts';
import * as write from '../../sqlite-audit/write-trail.ts';
import type { Transaction } from '../transaction.ts';

export const auditHeads = (transaction: Transaction): AuditHead[] => {
  // What this commit has added is not in the table yet.
  transaction.lane.flush(transaction.now);
  return read.readHeads(transaction.database);
};

export const readTrail = ({ database }: Transaction, request: ReadTrailRequest) => read.readTrail(database, request);
export const queryTrail = ({ database }: Transaction, request: QueryTrailRequest) => query(database, request);

export function addStatement({ database }: Transaction, statement: SignedStatement): void {
  write.insertStatement(database, statement);
}

export const listStatements = ({ database }: Transaction, request: { from: number; limit: number }) =>
  read.listStatements(database, request);

export function erasePayloads({ database, lane }: Transaction, request: EraseRequest): number {
  const { erased, bytes } = write.erasePayloads(database, request);
  lane.freeAudit(bytes.get(0) ?? 0);
  return erased;
}

export function cutTrail(
  { database, lane }: Transaction,
  { cut, statement }: { cut: SignedHead; statement: SignedStatement },
): void {
  lane.freeAudit(write.cutTrail(database, cut, statement));
}

/** For ever: whoever asks to drain this store has nothing to do. */
export const claimAudit = (_: Transaction, _request: ClaimAuditRequest): ClaimAuditAnswer => ({
  kind: 'held',
  by: 'the store itself',
});
export const drainAudit = (): 'fenced' => 'fenced';
export const alarmAudit = (): 'fenced' => 'fenced';
export const boundAudit = (): void => undefined;
