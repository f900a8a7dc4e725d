import type { RunId, SessionId } from '../../../domain/identity/ids.ts';
import { chainEntry, sizeOfRecord } from '../../../domain/audit/record-bytes.ts';
import type { AdministrativeRecord } from '../../administrative-record.ts';
import { insertRecord } from '../../sqlite/audit/write-trail.ts';
import type { Transaction } from '../transaction.ts';

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
