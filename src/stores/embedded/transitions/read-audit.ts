import type { AuditEntry, ReadAuditRequest } from '../../../ports/call-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';

type AuditRow = Omit<AuditEntry, 'lane' | 'approval' | 'grant'> & Pick<CallRow, 'approval' | 'grantId'>;

export function readAudit({ database }: Transaction, { lane, fromSequence, limit }: ReadAuditRequest): AuditEntry[] {
  if (lane !== 0) return [];
  const rows = database.all<AuditRow>(
    'SELECT * FROM audit WHERE sequence >= ? ORDER BY sequence LIMIT ?',
    fromSequence,
    limit,
  );
  return rows.map(({ approval, grantId, ...row }) => ({
    lane,
    ...row,
    ...(approval === null ? {} : { approval }),
    ...(grantId === null ? {} : { grant: grantId }),
  }));
}
