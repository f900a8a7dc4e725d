import type { AuditEntry, ReadAuditRequest } from '../../../ports/call-store.ts';
import type { Transaction } from '../transaction.ts';

export function readAudit({ database }: Transaction, { lane, fromSequence, limit }: ReadAuditRequest): AuditEntry[] {
  if (lane !== 0) return [];
  const rows = database.all<Omit<AuditEntry, 'lane'>>(
    'SELECT * FROM audit WHERE sequence >= ? ORDER BY sequence LIMIT ?',
    fromSequence,
    limit,
  );
  return rows.map((row) => ({ lane, ...row }));
}
