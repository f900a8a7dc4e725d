import type { AuditHead, DroppedStatements, SignedHead } from '../domain/audit-record.ts';
import { planeError } from '../domain/errors.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { parseRecord, sizeOfRecord, toSignedHead } from '../wire/audit-record.ts';
import { planDrop } from './drop-statements.ts';
import { readStatements, type Statements } from './read-statements.ts';
import { isInLane } from './same-lane.ts';
import type { TrustedKeys } from './signing-keys.ts';
import type { StatementSigner } from './statement-signer.ts';
import { untilUnchanged } from './until-unchanged.ts';
import { verifyStatements } from './verify-statements.ts';
import { walkLane } from './walk-lane.ts';

export interface Retention {
  readonly maxAgeMs?: number | undefined;
  /** Of all lanes together; each may have its share. */
  readonly maxBytes?: number | undefined;
}

/** A lane that became too large is cut to this part of its share: measuring it takes a walk over all of it. */
const KEPT_OF_SHARE = 0.9;
/** Records of the future that may stand at the beginning of a lane before its age is not known any more. */
const LOOKED_AT = 100;

/**
 * Deletes the oldest records of each lane, with a signed statement of where its chain begins now. Returns the cuts. What is deleted
 * cannot be verified any more, so it is verified first: a record whose time was changed in the sink would otherwise be deleted with
 * a genuine signature. At the first thing that is wrong nothing more of any lane is deleted, and the error says what it is.
 */
export async function retainTrail(
  trail: AuditTrail,
  signer: StatementSigner,
  readKeys: () => TrustedKeys,
  { maxAgeMs, maxBytes }: Retention,
  now: number,
): Promise<SignedHead[]> {
  const heads = await trail.auditHeads();
  const bytesPerLane = maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes / Math.max(1, heads.length);
  const limits = { oldest: maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : now - maxAgeMs, now, bytesPerLane };
  const cuts: SignedHead[] = [];
  for (const head of heads) {
    if (head.bytes <= bytesPerLane && !(await beginsBefore(trail, head, limits))) continue;
    const cut = await cutLane(trail, signer, readKeys, now, (statements) => findCut(trail, head, statements, limits));
    if (cut !== undefined) cuts.push(cut);
  }
  return cuts;
}

export interface Cut {
  /** The last record that is deleted. */
  readonly head: SignedHead;
  readonly why: 'age' | 'size';
}

/**
 * Deletes a lane's records up to a cut, and the statements about nothing but deleted records. `choose` gets verified statements, and is
 * asked again when another process has signed meanwhile. Undefined: there is nothing to delete.
 */
export async function cutLane(
  trail: AuditTrail,
  signer: StatementSigner,
  readKeys: () => TrustedKeys,
  at: number,
  choose: (statements: Statements) => Promise<Cut | LaneProblem | undefined>,
): Promise<SignedHead | undefined> {
  let drop: { readonly through: number; readonly keep: readonly number[] } | undefined;
  let cut: SignedHead | undefined;
  const answer = await signer.sign(
    trail,
    async () => {
      const found = await untilUnchanged(trail, () => look(trail, readKeys(), choose), isProblem);
      if (found === undefined) return undefined;
      if (isProblem(found)) throw planeError('AUDIT_NOT_IN_ORDER', { problem: found.what });
      const { why, dropped } = found;
      cut = found.head;
      drop = dropped && { through: dropped.through, keep: dropped.kept.map(({ number }) => number) };
      return { kind: 'cut', at, cut, why, ...(dropped === undefined ? {} : { dropped }) };
    },
    (statement) => trail.cutTrail({ cut: cut!, statement, ...(drop === undefined ? {} : { drop }) }),
  );
  return answer === undefined ? undefined : cut;
}

type Found = Cut & { readonly dropped: DroppedStatements | undefined };

async function look(
  trail: AuditTrail,
  keys: TrustedKeys,
  choose: (statements: Statements) => Promise<Cut | LaneProblem | undefined>,
): Promise<Found | LaneProblem | undefined> {
  const read = await readStatements(trail, keys);
  if (read.kind === 'bad') return { kind: 'problem', what: read.problem };
  const { statements } = read;
  // The signer compares the marks.
  const { problem } = verifyStatements(statements, []);
  if (problem !== undefined) return { kind: 'problem', what: problem };
  const found = await choose(statements);
  if (found === undefined || isProblem(found)) return found;
  // A cut to a lower place than the last one would say that records between them are there.
  const last = statements.cuts.findLast(isInLane(found.head));
  if (last !== undefined && last.sequence >= found.head.sequence) return undefined;
  return { ...found, dropped: planDrop(statements, found.head) };
}

interface LaneProblem {
  readonly kind: 'problem';
  readonly what: string;
}

const isProblem = (found: object | undefined): found is LaneProblem => found !== undefined && 'kind' in found;

interface Limits {
  readonly oldest: number;
  readonly now: number;
  readonly bytesPerLane: number;
}

/** A first look, before the lane is verified. A record of the future was made up by a role, and says nothing about the others. */
async function beginsBefore(trail: AuditTrail, { store, lane }: AuditHead, { oldest, now }: Limits): Promise<boolean> {
  const page = await trail.readTrail({ store, lane, fromSequence: Number.MIN_SAFE_INTEGER, limit: LOOKED_AT });
  const records = page.map(({ text }) => parseRecord(text));
  // One that cannot be read is looked at by the walk, which says so.
  const first = records.find((record) => record === undefined || record.at <= now);
  return page.length > 0 && (first?.at ?? Number.NEGATIVE_INFINITY) < oldest;
}

/**
 * The cut is the last record that is too old, or that the lane has no room for, looked at from the oldest on. It is never behind the last
 * signed head, which vouches for everything before it:
 *
 *     records   1 2 3 4 5 6 7 8 9        too old: 1 to 6
 *     signed        *       *            the head at 7 vouches for 6: cut at 6
 *     signed        *                    nothing vouches for 4 to 6: cut at 3
 *
 * Sizes are measured: the one that the lane's row names is a number that every writer of the sink can change.
 */
async function findCut(
  trail: AuditTrail,
  head: AuditHead,
  statements: Statements,
  { oldest, now, bytesPerLane }: Limits,
): Promise<Cut | LaneProblem | undefined> {
  const bytes = head.bytes > bytesPerLane ? await measure(trail, head, statements) : 0;
  if (typeof bytes !== 'number') return bytes;
  const bytesToFree = bytes > bytesPerLane ? bytes - bytesPerLane * KEPT_OF_SHARE : 0;
  const signed = new Set(statements.heads.filter(isInLane(head)).map(({ sequence }) => sequence));
  let due: Cut | undefined;
  let vouched: Cut | undefined;
  let freed = 0;
  let isBehindLimits = false;
  for await (const step of walkLane(trail, head, statements)) {
    if (step.kind === 'problem') return describe(head, step);
    const { sequence, record, chained } = step;
    const isFuture = record.at > now;
    const why = record.at < oldest ? 'age' : freed < bytesToFree ? 'size' : undefined;
    isBehindLimits ||= why === undefined && !isFuture;
    if (!isBehindLimits && why !== undefined)
      due = { head: toSignedHead({ ...head, sequence, chain: chained.chain }), why };
    freed += sizeOfRecord(chained);
    if (signed.has(sequence)) vouched = due;
    if (isBehindLimits && vouched === due) return due;
  }
  return vouched;
}

async function measure(trail: AuditTrail, head: AuditHead, statements: Statements): Promise<number | LaneProblem> {
  let bytes = 0;
  for await (const step of walkLane(trail, head, statements)) {
    if (step.kind === 'problem') return describe(head, step);
    bytes += sizeOfRecord(step.chained);
  }
  return bytes;
}

function describe(
  { lane }: AuditHead,
  { sequence, what }: { readonly sequence: number; readonly what: string },
): LaneProblem {
  return { kind: 'problem', what: `record ${sequence} of lane ${lane}: ${what}` };
}
