import type { AuditEvent } from '../../../domain/audit/audit-record.ts';
import { chainEntry, sizeOfRecord } from '../../../domain/audit/record-bytes.ts';
import type { RunId, SessionId } from '../../../domain/identity/ids.ts';
import type { AdministrativeRecord } from '../../administrative-record.ts';
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

interface AboutSession {
  readonly session?: SessionId;
  readonly run?: RunId;
  /** The identity as the session's row has it. */
  readonly identity?: string;
}

/**
 * Appends the record of an administrative change, in the transaction of the change and before it. This store has one lane, so records of the
 * deployment are in the same chain as those of calls.
 */
export function appendAdministration(
  { database, lane, now: at, file }: Transaction,
  { event, detail, identity }: AdministrativeRecord,
  about: AboutSession = {},
): void {
  const sequence = lane.nextAuditSequence();
  const own = { lane: 0, sequence, at, event, detail, ...about };
  const entry = identity === undefined ? own : { ...own, identity: JSON.stringify(identity) };
  const chained = chainEntry(entry, file.incarnation, lane.auditChain);
  insertRecord(database, lane.auditLaneId, { ...chained, sequence, at, callId: '' });
  lane.chainAudit(chained.chain, sizeOfRecord(chained));
}
