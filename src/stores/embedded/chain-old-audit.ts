import type { AuditEvent } from '../../domain/audit/audit-record.ts';
import type { ApprovalId, GrantId } from '../../domain/policy/approval.ts';
import type { CallId, RunId, SessionId, ToolId } from '../../domain/identity/ids.ts';
import { chainEntry, sizeOfRecord } from '../../domain/audit/record-bytes.ts';
import { insertRecord, moveHead, openAuditLane } from '../sqlite/audit/write-trail.ts';
import type { Database } from '../sqlite/database.ts';

interface OldRow {
  readonly sequence: number;
  readonly at: number;
  readonly event: AuditEvent;
  readonly callId: CallId;
  readonly tool: ToolId;
  readonly session: SessionId;
  readonly bodyDigest: string;
  readonly identity: string;
  readonly detail: Uint8Array;
  readonly approval: ApprovalId | null;
  readonly grantId: GrantId | null;
}

const AT_ONCE = 500;

/**
 * Moves the records that an earlier release wrote without a chain into the chain. That release did not record the run, so the run is empty.
 */
export function chainOldAudit(database: Database): void {
  const store = database.get<{ id: string }>('SELECT id FROM incarnation')!.id;
  const { id, ...first } = openAuditLane(database, store, 0);
  let { sequence, chain, bytes } = first;
  for (;;) {
    const rows = database.all<OldRow>(
      'SELECT * FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?',
      sequence,
      AT_ONCE,
    );
    if (rows.length === 0) break;
    for (const { approval, grantId, ...row } of rows) {
      const more = { approval: approval ?? undefined, grant: grantId ?? undefined };
      const chained = chainEntry({ ...row, ...more, lane: 0, run: '' as RunId }, store, chain);
      insertRecord(database, id, { ...row, ...chained });
      ({ sequence } = row);
      ({ chain } = chained);
      bytes += sizeOfRecord(chained);
    }
  }
  moveHead(database, id, { sequence, chain, bytes });
}
