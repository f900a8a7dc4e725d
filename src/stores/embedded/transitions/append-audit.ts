import type { AuditEvent } from '../../../domain/audit/audit-record.ts';
import { chainEntry, sizeOfRecord } from '../../../domain/audit/record-bytes.ts';
import { insertRecord } from '../../sqlite/audit/write-trail.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { callIdOf } from './call-row.ts';

type Audited = Pick<
  CallRow,
  'keyId' | 'generation' | 'tool' | 'session' | 'run' | 'bodyDigest' | 'identity' | 'approval' | 'grantId'
>;

/** Appends an audit record. Sequence and chain are taken inside the transaction, so a record that is rolled back leaves no gap. */
export function appendAudit(transaction: Transaction, call: Audited, event: AuditEvent, detail: Uint8Array): void {
  const { database, lane, now: at, file } = transaction;
  const sequence = lane.nextAuditSequence();
  const callId = callIdOf(call);
  const { tool, session, run, bodyDigest, identity } = call;
  const own = { lane: 0, sequence, at, event, callId, tool, session, run, bodyDigest, identity, detail };
  const more = { approval: call.approval ?? undefined, grant: call.grantId ?? undefined };
  const chained = chainEntry({ ...own, ...more }, file.incarnation, lane.auditChain);
  insertRecord(database, lane.auditLaneId, { ...chained, sequence, at, callId });
  lane.chainAudit(chained.chain, sizeOfRecord(chained));
}
