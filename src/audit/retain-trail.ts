import type { AuditHead, DroppedStatements, SignedHead } from '../domain/audit-record.ts';
import { planeError } from '../domain/errors.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { parseRecord, sizeOfRecord, toSignedHead } from '../wire/audit-record.ts';
import { planDrop } from './drop-statements.ts';
import { readStatements, type Statements } from './read-statements.ts';
import type { TrustedKeys } from './signing-keys.ts';
import type { StatementSigner } from './statement-signer.ts';
import { walkLane } from './walk-lane.ts';

export interface Retention {
  readonly maxAgeMs?: number | undefined;
  /** Of all lanes together; each may have its share. */
  readonly maxBytes?: number | undefined;
}

/** A lane that became too large is cut to this part of its share: measuring it takes a walk over all of it. */
const KEPT_OF_SHARE = 0.9;

/**
 * Deletes the oldest records of each lane, with a signed statement of where its chain begins now. Returns the cuts. What is deleted
 * cannot be verified any more, so it is verified first: a record whose time was changed in the sink would otherwise be deleted with
 * a genuine signature. At the first thing that is wrong nothing more of any lane is deleted, and the error says what it is.
 */
export async function retainTrail(
  trail: AuditTrail,
  signer: StatementSigner,
  keys: TrustedKeys,
  { maxAgeMs, maxBytes }: Retention,
  now: number,
): Promise<SignedHead[]> {
  const heads = await trail.auditHeads();
  const share = maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes / Math.max(1, heads.length);
  const oldest = maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : now - maxAgeMs;
  const cuts: SignedHead[] = [];
  for (const head of heads) {
    if (head.bytes <= share && !(await beginsBefore(trail, head, oldest))) continue;
    // Read for each lane: the cut of the last one may have dropped statements.
    const read = await readStatements(trail, keys);
    if (read.kind === 'bad') throw planeError('AUDIT_NOT_IN_ORDER', { problem: read.problem });
    const found = await findCut(trail, head, read.statements, { oldest, share });
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

/** A first look, before the lane is verified. */
async function beginsBefore(trail: AuditTrail, { store, lane }: AuditHead, oldest: number): Promise<boolean> {
  const [first] = await trail.readTrail({ store, lane, fromSequence: Number.MIN_SAFE_INTEGER, limit: 1 });
  // One that cannot be read is looked at by the walk, which says so.
  return first !== undefined && (parseRecord(first.text)?.at ?? Number.NEGATIVE_INFINITY) < oldest;
}

/**
 * The last record that is too old or that the lane has no room for, looked at from the oldest on; never behind the last signed head,
 * which vouches for everything before it. Sizes are measured: the one that the head names is a number that anybody who can write the
 * sink could have changed.
 */
async function findCut(
  trail: AuditTrail,
  head: AuditHead,
  statements: Statements,
  { oldest, share }: { readonly oldest: number; readonly share: number },
): Promise<Cut | undefined> {
  const bytes = head.bytes > share ? await measure(trail, head, statements) : 0;
  const tooMuch = bytes > share ? bytes - share * KEPT_OF_SHARE : 0;
  const signed = new Set(statements.heads.filter((each) => isOf(each, head)).map(({ sequence }) => sequence));
  let vouched: Cut | undefined;
  let cut: Cut | undefined;
  let freed = 0;
  let isBehind = false;
  for await (const step of walkLane(trail, head, statements)) {
    if (step.kind === 'problem') throw outOfOrder(head, step);
    const { sequence, record, chained } = step;
    const why = record.at < oldest ? 'age' : freed < tooMuch ? 'size' : undefined;
    isBehind ||= why === undefined;
    if (!isBehind) cut = { sequence, chain: chained.chain, why: why! };
    freed += sizeOfRecord(chained);
    if (signed.has(sequence)) vouched = cut;
    if (isBehind && vouched === cut) return cut;
  }
  return vouched;
}

async function measure(trail: AuditTrail, head: AuditHead, statements: Statements): Promise<number> {
  let bytes = 0;
  for await (const step of walkLane(trail, head, statements)) {
    if (step.kind === 'problem') throw outOfOrder(head, step);
    bytes += sizeOfRecord(step.chained);
  }
  return bytes;
}

const isOf = (signed: SignedHead, { store, lane }: AuditHead): boolean =>
  signed.store === store && signed.lane === lane;

function outOfOrder({ lane }: AuditHead, { sequence, what }: { readonly sequence: number; readonly what: string }) {
  return planeError('AUDIT_NOT_IN_ORDER', { problem: `record ${sequence} of lane ${lane}: ${what}` });
}
