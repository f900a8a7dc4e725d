import type { AuditHead, ChainedRecord, SignedHead } from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { parseRecord, sizeOfRecord, toSignedHead } from '../wire/audit-record.ts';
import { signStatement } from './sign-statement.ts';
import type { SigningKey } from './signing-keys.ts';

export interface Retention {
  readonly maxAgeMs?: number | undefined;
  /** Of all lanes together; each may have its share. */
  readonly maxBytes?: number | undefined;
}

const AT_ONCE = 500;

/** Deletes the oldest records of each lane, with a signed statement of where its chain begins now. Returns the cuts. */
export async function retainTrail(
  trail: AuditTrail,
  key: SigningKey,
  { maxAgeMs, maxBytes }: Retention,
  now: number,
): Promise<SignedHead[]> {
  const heads = await trail.auditHeads();
  const share = maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes / Math.max(1, heads.length);
  const oldest = maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : now - maxAgeMs;
  const cuts: SignedHead[] = [];
  for (const head of heads) {
    const found = await findCut(trail, head, oldest, head.bytes - share);
    if (found === undefined) continue;
    const cut = toSignedHead({ ...head, ...found });
    await trail.cutTrail({ cut, statement: signStatement({ kind: 'cut', at: now, cut, why: found.why }, key) });
    cuts.push(cut);
  }
  return cuts;
}

interface Cut {
  readonly sequence: number;
  readonly chain: Uint8Array;
  readonly why: 'age' | 'size';
}

/** The last record that is too old or that the lane has no room for; looked at from the oldest on. */
async function findCut(
  trail: AuditTrail,
  { store, lane }: AuditHead,
  oldest: number,
  tooMuch: number,
): Promise<Cut | undefined> {
  let cut: Cut | undefined;
  let freed = 0;
  for (let fromSequence = 1; ; fromSequence = cut!.sequence + 1) {
    const page: ChainedRecord[] = await trail.readTrail({ store, lane, fromSequence, limit: AT_ONCE });
    for (const chained of page) {
      const record = parseRecord(chained.text);
      const why = record !== undefined && record.at < oldest ? 'age' : freed < tooMuch ? 'size' : undefined;
      // What cannot be read is for `verify` to tell, and not for us to delete.
      if (record === undefined || why === undefined) return cut;
      cut = { sequence: record.sequence, chain: chained.chain, why };
      freed += sizeOfRecord(chained);
    }
    if (page.length < AT_ONCE) return cut;
  }
}
