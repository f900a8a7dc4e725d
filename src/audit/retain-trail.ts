import type { AuditHead, AuditStatement, DroppedStatements, SignedHead } from '../domain/audit/audit-record.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { parseRecord, sizeOfRecord, toSignedHead } from '../domain/audit/record-bytes.ts';
import { planDrop } from './drop-statements.ts';
import type { StatementFollower } from './follow-statements.ts';
import type { Statements } from './read-statements.ts';
import { isInLane } from './same-lane.ts';
import type { StatementSigner } from './statement-signer.ts';
import { walkLane } from './walk-lane.ts';

export interface Retention {
  readonly maxAgeMs?: number | undefined;
  /** Max bytes of all lanes together. Each lane has an equal share. */
  readonly maxBytes?: number | undefined;
}

export interface RetainNeeds {
  readonly trail: AuditTrail;
  readonly signer: StatementSigner;
  readonly statements: StatementFollower;
  /** If it is aborted, retention stops with an error before the next record. A cut that was already signed is completed. */
  readonly signal?: AbortSignal;
}

export interface Retained {
  readonly cuts: readonly SignedHead[];
  /** Why nothing more can be deleted until an operator trusts another key. */
  readonly unknownKey?: string;
}

/** A lane that became too large is cut to this part of its share. The margin matters because measuring a lane means reading all of it. */
const KEPT_OF_SHARE = 0.9;
/**
 * A process with any role can append records with a time in the future. If a lane begins with this many of them, the whole lane is read to
 * find out whether any record is due.
 */
const MAX_FUTURE_RECORDS = 100;
/** Max walks over one lane in one round. A walk is repeated if another process changed the lane in the meantime. */
const MAX_WALKS = 5;

/**
 * Deletes the oldest records of each lane, and signs where its chain now begins. Deleted records cannot be verified any more, so they are
 * verified first. Otherwise a record whose time was changed in the sink would be deleted with a valid signature. At the first problem,
 * retention stops for all lanes and throws the problem.
 */
export async function retainTrail(
  needs: RetainNeeds,
  { maxAgeMs, maxBytes }: Retention,
  now: number,
): Promise<Retained> {
  const { trail, signal } = needs;
  const heads = await trail.auditHeads();
  const bytesPerLane = maxBytes === undefined ? Number.POSITIVE_INFINITY : maxBytes / Math.max(1, heads.length);
  const limits = { oldest: maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : now - maxAgeMs, now, bytesPerLane };
  const cuts: SignedHead[] = [];
  for (const head of heads) {
    if (head.bytes <= bytesPerLane && !(await beginsBefore(trail, head, limits))) continue;
    const made = await cutLane(needs, head, now, (statements) => findCut(trail, head, statements, limits, signal));
    if (made?.kind === 'unknown-key') return { cuts, unknownKey: made.problem };
    if (made !== undefined) cuts.push(made.cut);
  }
  return { cuts };
}

export interface Cut {
  /** The last record that is deleted. */
  readonly head: SignedHead;
  readonly why: 'age' | 'size';
}

type Made =
  | { readonly kind: 'cut'; readonly cut: SignedHead }
  | { readonly kind: 'unknown-key'; readonly problem: string };

type Choose = (statements: Statements) => Promise<Cut | LaneProblem | undefined>;

/**
 * Deletes a lane's records up to a cut, and the statements that are only about deleted records. `choose` gets verified statements and walks
 * over the lane. A walk may take longer than the time between two signatures, so `choose` is not called again because of a new signature,
 * but only if another process has changed this lane meanwhile. Undefined: there is nothing to delete.
 * @internal
 */
export async function cutLane(
  needs: RetainNeeds,
  lane: Pick<AuditHead, 'store' | 'lane'>,
  at: number,
  choose: Choose,
): Promise<Made | undefined> {
  for (let walks = 1; walks <= MAX_WALKS; walks += 1) {
    const before = await readVerified(needs);
    if (before.kind === 'unknown-key') return before;
    const seen = lastNumberOf(before.statements);
    const found = await choose(before.statements);
    if (found === undefined) return undefined;
    if (isProblem(found)) {
      const after = await readVerified(needs);
      if (walks < MAX_WALKS && after.kind === 'good' && hasChanged(after.statements, lane, seen)) continue;
      throw planeError('AUDIT_NOT_IN_ORDER', { problem: found.what });
    }
    const made = await signCut(needs, found, at, seen);
    if (made !== 'changed') return made;
  }
  return undefined;
}

/**
 * Signs a cut and deletes the records. `changed`: another process has changed the lane since statement `seen`, so the walk may have read
 * partly the old and partly the new state.
 */
async function signCut(
  needs: RetainNeeds,
  { head, why }: Cut,
  at: number,
  seen: number,
): Promise<Made | 'changed' | undefined> {
  let refused: Made | 'changed' | undefined;
  let dropped: DroppedStatements | undefined;
  const answer = await needs.signer.sign(
    needs.trail,
    async () => {
      const read = await readVerified(needs);
      refused = read.kind === 'unknown-key' ? read : undefined;
      if (read.kind === 'unknown-key') return undefined;
      const { statements } = read;
      refused = hasChanged(statements, head, seen) ? 'changed' : undefined;
      // A cut below the last one would state that the records between the two still exist.
      const last = statements.cuts.findLast(isInLane(head));
      if (refused !== undefined || (last !== undefined && last.sequence >= head.sequence)) return undefined;
      dropped = planDrop(statements, head);
      return { kind: 'cut', at, cut: head, why, ...(dropped === undefined ? {} : { dropped }) };
    },
    (statement) => {
      const drop = dropped && { through: dropped.through, keep: dropped.kept.map(({ number }) => number) };
      return needs.trail.cutTrail({ cut: head, statement, ...(drop === undefined ? {} : { drop }) });
    },
  );
  return answer === undefined ? refused : { kind: 'cut', cut: head };
}

async function readVerified({ statements, signal }: RetainNeeds) {
  const read = await statements.read(signal);
  if (read.kind === 'bad') throw planeError('AUDIT_NOT_IN_ORDER', { problem: read.problem });
  return read;
}

const lastNumberOf = ({ links }: Statements): number => links.at(-1)?.number ?? Number.NEGATIVE_INFINITY;

/** Whether a statement after `seen` removed records or payloads of this lane. */
function hasChanged({ links }: Statements, lane: Pick<AuditHead, 'store' | 'lane'>, seen: number): boolean {
  const first = links.findLastIndex(({ number }) => number <= seen) + 1;
  return links.slice(first).some(({ statement }) => changes(statement, lane));
}

function changes(statement: AuditStatement, lane: Pick<AuditHead, 'store' | 'lane'>): boolean {
  const isHere = isInLane(lane);
  if (statement.kind === 'cut') return isHere(statement.cut);
  if (statement.kind === 'erasure') return statement.heads.some(isHere);
  return statement.kind === 'rollback' || (statement.kind === 'gap' && isHere(statement));
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

/**
 * Quickly checks whether a lane begins with a record that is too old, before the lane is verified. A record with a time in the future is
 * skipped, because it says nothing about the age of the others.
 */
async function beginsBefore(trail: AuditTrail, { store, lane }: AuditHead, { oldest, now }: Limits): Promise<boolean> {
  const page = await trail.readTrail({ store, lane, fromSequence: Number.MIN_SAFE_INTEGER, limit: MAX_FUTURE_RECORDS });
  const records = page.map(({ text }) => parseRecord(text));
  // A record that cannot be read counts as too old here; the walk reports it.
  const first = records.find((record) => record === undefined || record.at <= now);
  return page.length > 0 && (first?.at ?? Number.NEGATIVE_INFINITY) < oldest;
}

/**
 * Finds the last record that is too old, or that the lane has no room for, starting from the oldest. The cut is never after the last
 * signed head, which vouches for everything before it:
 *
 *     records   1 2 3 4 5 6 7 8 9        too old: 1 to 6
 *     signed        *       *            the head at 7 vouches for 6: cut at 6
 *     signed        *                    nothing vouches for 4 to 6: cut at 3
 *
 * Sizes are measured, because the size in the lane's row is a number that every writer of the sink can change.
 */
async function findCut(
  trail: AuditTrail,
  head: AuditHead,
  statements: Statements,
  { oldest, now, bytesPerLane }: Limits,
  signal: AbortSignal | undefined,
): Promise<Cut | LaneProblem | undefined> {
  const bytes = head.bytes > bytesPerLane ? await measure(trail, head, statements, signal) : 0;
  if (typeof bytes !== 'number') return bytes;
  const bytesToFree = bytes > bytesPerLane ? bytes - bytesPerLane * KEPT_OF_SHARE : 0;
  const signed = new Set(statements.heads.filter(isInLane(head)).map(({ sequence }) => sequence));
  let due: Cut | undefined;
  let vouched: Cut | undefined;
  let freed = 0;
  let isBehindLimits = false;
  for await (const step of walkLane(trail, head, statements)) {
    signal?.throwIfAborted();
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

async function measure(
  trail: AuditTrail,
  head: AuditHead,
  statements: Statements,
  signal: AbortSignal | undefined,
): Promise<number | LaneProblem> {
  let bytes = 0;
  for await (const step of walkLane(trail, head, statements)) {
    signal?.throwIfAborted();
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
