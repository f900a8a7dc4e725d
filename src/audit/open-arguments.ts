import type { KeyObject } from 'node:crypto';
import { isAboutCall, type AboutCall, type AuditRecord, type ChainedRecord } from '../domain/audit/audit-record.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { TrailQuery } from '../domain/ports/audit-store.ts';
import { readSealed } from '../domain/audit/audit-detail.ts';
import { parseRecord, payloadDigest } from '../domain/audit/record-bytes.ts';
import { sha256 } from '../base/sha256.ts';
import { openSeal } from './seal-arguments.ts';

export interface OpenedArguments {
  readonly record: AuditRecord;
  /** The whole arguments as canonical JSON. */
  readonly arguments: string;
}

/** Max records of starts that are read for one call. No call is started this often. */
const MAX_STARTS = 1000;

/** The arguments that a privileged call was last started with. Throws if they do not match the record. */
export async function openArguments(trail: TrailQuery, callId: string, auditor: KeyObject): Promise<OpenedArguments> {
  const filter = { callId, event: 'call.intended' };
  const { records, strays = [] } = await trail.queryTrail({ filter, limit: MAX_STARTS });
  // This record was found through columns that the chain does not protect. If a column is wrong, the record may belong to another start or
  // another call.
  if (strays.length > 0 || records.some(({ wrongColumn }) => wrongColumn !== undefined)) {
    throw planeError('AUDIT_SEAL_BROKEN', { call: callId, problem: 'the index of the trail was changed' });
  }
  const [chained] = records;
  const record = chained === undefined ? undefined : parseRecord(chained.text);
  if (chained === undefined || record === undefined || !isAboutCall(record)) {
    throw planeError('AUDIT_NOT_SEALED', { call: callId, why: 'no record says that a privileged tool was started' });
  }
  const sealed = sealedOf(chained, record);
  const binding = { callId: record.callId, tool: record.tool, digest: record.effectiveDigest ?? '' };
  const opened = openSeal(sealed, binding, auditor);
  if (opened.kind === 'other-key') {
    throw planeError('AUDIT_SEAL_KEY', { call: callId, sealedTo: opened.sealedTo, given: opened.given });
  }
  if (opened.kind === 'broken') throw planeError('AUDIT_SEAL_BROKEN', { call: callId, problem: opened.problem });
  if (sha256(opened.arguments) !== record.effectiveDigest) {
    throw planeError('AUDIT_SEAL_BROKEN', {
      call: callId,
      problem: 'its arguments have another digest than the record',
    });
  }
  return { record, arguments: opened.arguments };
}

function sealedOf({ payload }: ChainedRecord, record: AboutCall<AuditRecord>): Uint8Array {
  const call = record.callId;
  if (payload === undefined) throw planeError('AUDIT_NOT_SEALED', { call, why: 'its payload was erased' });
  if (payloadDigest(payload.salt, payload.bytes) !== record.payloadDigest) {
    throw planeError('AUDIT_SEAL_BROKEN', { call, problem: 'its payload is not the one that was recorded' });
  }
  const sealed = readSealed(payload.bytes);
  if (sealed !== undefined) return sealed;
  throw planeError('AUDIT_NOT_SEALED', { call, why: 'its worker had no auditor key' });
}
