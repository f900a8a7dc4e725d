import type { AuditPayload, AuditRecord, ChainedRecord } from './audit-record.ts';
import { readAuditDetail } from './audit-detail.ts';
import { parseRecord } from './record-bytes.ts';

/** A record with its payload and its place in the chain, as it is shown and exported. */
export type ShownRecord = AuditRecord & AuditPayload & { readonly chain: string; readonly erased?: true };

export function showRecord({ text, chain, payload }: ChainedRecord): ShownRecord {
  // An unreadable record is still shown: an auditor may be looking for exactly that.
  const record = parseRecord(text) ?? ({ unreadable: text } as unknown as AuditRecord);
  const more = payload === undefined ? { erased: true as const } : readAuditDetail(payload.bytes).payload;
  return { ...record, ...more, chain: Buffer.from(chain).toString('hex') };
}
