import type { AuditEvent } from '../../../ports/call-store.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { callIdOf } from './call-row.ts';

type Audited = Pick<
  CallRow,
  'keyId' | 'generation' | 'tool' | 'session' | 'bodyDigest' | 'identity' | 'approval' | 'grantId'
>;

/** The sequence is taken inside the transaction, so a rolled-back record leaves no gap. */
export function appendAudit(transaction: Transaction, call: Audited, event: AuditEvent, detail: Uint8Array): void {
  const { database, lane, now } = transaction;
  database.run(
    'INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
    lane.nextAuditSequence(),
    now,
    event,
    callIdOf(call),
    call.tool,
    call.session,
    call.bodyDigest,
    call.identity,
    detail,
    call.approval,
    call.grantId,
  );
}
