import { isAboutCall, type AboutCall, type AuditEvent, type AuditRecord } from '../../domain/audit/audit-record.ts';
import type { CallRecord } from '../../domain/call/call.ts';
import { callDurations } from '../../domain/call/call-durations.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import type { CallRow } from '../api/call-schema.ts';

/** The events that end a call. Each settled call has exactly one record of them. */
const ENDINGS: ReadonlySet<AuditEvent> = new Set(['call.settled', 'call.cancelled', 'call.expired']);

export function isEnding(record: AuditRecord): record is AboutCall<AuditRecord> {
  return ENDINGS.has(record.event) && isAboutCall(record);
}

const COPIED_FIELDS = [
  'outcome',
  'code',
  'executed',
  'durationMs',
  'approval',
  'grant',
  'detector',
  'rule',
  'parent',
] as const;

/** The row of a settled call, from its audit record. */
export function rowOfRecord(record: AboutCall<AuditRecord>): CallRow {
  const { callId, tool, agent, subject, tenant, session, run, at } = record;
  const row: CallRow = { callId, tool, agent, subject, tenant, session, run, state: 'settled', settledAt: at };
  for (const name of COPIED_FIELDS) {
    // Only fields that are present are copied. Many rows are kept in memory, and most records have few of these fields.
    if (record[name] !== undefined) Object.assign(row, { [name]: record[name] });
  }
  return Object.assign(row, callDurations(record));
}

/** The row of a call, from its current record in the store. */
export function rowOfCall(call: CallRecord): CallRow {
  const { callId, tool, identity, session, run, state, acceptedAt, deadline, settledAt, approval, grant } = call;
  const { agent, subject, tenant } = identity;
  const outcome = call.outcome === undefined ? undefined : decodeOutcome(call.outcome);
  const detector = outcome?.error?.facts?.['detector'];
  return {
    callId,
    tool,
    agent,
    subject,
    tenant,
    session,
    run,
    state,
    acceptedAt,
    deadline,
    ...(settledAt === undefined ? {} : { settledAt }),
    ...callDurations({ acceptedAt, settledAt }),
    ...(outcome === undefined ? {} : { outcome: outcome.kind, executed: outcome.executed }),
    ...(outcome?.error === undefined ? {} : { code: outcome.error.code }),
    ...(typeof detector === 'string' ? { detector } : {}),
    ...(approval === undefined ? {} : { approval }),
    ...(grant === undefined ? {} : { grant }),
    ...(call.cancelRequested ? { cancelRequested: true } : {}),
  };
}
