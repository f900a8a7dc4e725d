import type { AuditHead, ChainedRecord, DroppedStatements, SignedHead } from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { parseRecord, sizeOfRecord, toSignedHead } from '../wire/audit-record.ts';
import { planDrop } from './drop-statements.ts';
import type { StatementSigner } from './statement-signer.ts';

export interface Retention {
  readonly maxAgeMs?: number | undefined;
  /** Of all lanes together; each may have its share. */
  readonly maxBytes?: number | undefined;
}

const AT_ONCE = 500;

/** Deletes the oldest records of each lane, with a signed statement of where its chain begins now. Returns the cuts. */
export async function retainTrail(
  trail: AuditTrail,
  signer: StatementSigner,
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
    if (await cutLane(trail, signer, { cut, why: found.why, at: now })) cuts.push(cut);
  }
  return cuts;
}

/** Deletes a lane's records up to the cut, and the statements about nothing but deleted records. False: another process was faster. */
export async function cutLane(
  trail: AuditTrail,
  signer: StatementSigner,
  { cut, why, at }: { readonly cut: SignedHead; readonly why: 'age' | 'size'; readonly at: number },
): Promise<boolean> {
  let dropped: DroppedStatements | undefined;
  const answer = await signer.sign(
    trail,
    async () => {
      const { store, lane, sequence } = cut;
      const [first] = await trail.readTrail({ store, lane, fromSequence: 0, limit: 1 });
      // A cut to a lower place than the last one would say that records between them are there.
      if (first === undefined || (parseRecord(first.text)?.sequence ?? 0) > sequence) return undefined;
      dropped = await planDrop(trail, cut);
      return { kind: 'cut', at, cut, why, ...(dropped === undefined ? {} : { dropped }) };
    },
    (statement) => {
      const drop = dropped && { through: dropped.through, keep: dropped.kept.map(({ number }) => number) };
      return trail.cutTrail({ cut, statement, ...(drop === undefined ? {} : { drop }) });
    },
  );
  return answer !== undefined;
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
