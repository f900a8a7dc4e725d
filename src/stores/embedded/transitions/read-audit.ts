import type { AuditRecord } from '../../../domain/audit/audit-record.ts';
import type { AuditEntry, AuditState, JournalPage, ReadAuditRequest } from '../../../domain/ports/audit-store.ts';
import { readTrail } from '../../sqlite/audit/read-trail.ts';
import type { Transaction } from '../transaction.ts';

/** Returns the entries that the records were made of. An erased record has no detail. */
export function readAudit({ database, file }: Transaction, request: ReadAuditRequest): AuditEntry[] {
  const found = readTrail(database, { store: file.incarnation, ...request });
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

/** Each record is in the trail in the same step as what it records. So there is nothing to drain, and nothing can be late. */
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
