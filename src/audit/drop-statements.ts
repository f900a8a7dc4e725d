import type { AuditStatement, DroppedStatements, SignedHead, StatementMark } from '../domain/audit/audit-record.ts';
import type { ReadLink, Statements } from './read-statements.ts';
import { linkAfter } from './statement-links.ts';

/** Max statements that a cut keeps: the cut lists each of them. */
const MAX_KEPT = 1000;

/**
 * Decides which signed statements are deleted together with the records that a cut deletes; undefined if none can be. Otherwise statements
 * would pile up, one for each time heads are signed, although their records are gone. Goes from the oldest statement to the first one that
 * vouches for a record that stays. The last heads are never dropped, because they prove that a lane existed. Other statements in between
 * that are still needed are kept and listed in the cut.
 *
 * @param statements must be verified: a dropped statement can never be checked again
 */
export function planDrop({ links, cuts }: Statements, cut: SignedHead): DroppedStatements | undefined {
  const isGone = whatIsGone([...cuts, cut]);
  const kept: StatementMark[] = [];
  let plan: DroppedStatements | undefined;
  for (const [index, link] of links.entries()) {
    if (hasHeads(link.statement)) {
      const isAnyDropped = index > kept.length;
      if (isAnyDropped) plan = dropThrough(links[index - 1]!, kept) ?? plan;
      if (vouches(link.statement, isGone)) return plan;
    }
    if (isNeeded(link.statement, isGone)) kept.push({ number: link.number, hash: link.hash });
    if (kept.length > MAX_KEPT) return plan;
  }
  return plan;
}

/**
 * The plan that drops statements up to this one. Undefined for a statement of an older release, which has no number: the hash of the chain
 * over these statements is known only from statement 1.
 */
function dropThrough({ number, previous, hash }: ReadLink, kept: readonly StatementMark[]) {
  if (number <= 0 || previous === undefined) return undefined;
  return { through: number, hash: linkAfter(previous, hash), kept: [...kept] };
}

type IsGone = (head: SignedHead, more?: number) => boolean;

/**
 * Returns a test: whether the record of a head is deleted, or will be deleted by the last of these cuts. With `more`, the test is about the
 * record that many sequences after the head.
 */
function whatIsGone(cuts: readonly SignedHead[]): IsGone {
  const through = new Map(cuts.map((each) => [laneOf(each), each.sequence]));
  return (head, more = 0) => head.sequence + more <= (through.get(laneOf(head)) ?? 0);
}

const laneOf = ({ store, lane }: Pick<SignedHead, 'store' | 'lane'>): string => `${lane} ${store}`;

const hasHeads = ({ kind }: AuditStatement): boolean => kind === 'heads' || kind === 'chain-start';

/** Whether a statement contains heads and at least one of their records stays. */
function vouches(statement: AuditStatement, isGone: IsGone): boolean {
  return (
    (statement.kind === 'heads' || statement.kind === 'chain-start') && !statement.heads.every((head) => isGone(head))
  );
}

/**
 * Whether a statement other than heads must be kept. It must be kept while it still has an effect: for example an erasure until all records
 * before it are deleted, or a cut until a later cut replaces it.
 */
function isNeeded(statement: AuditStatement, isGone: IsGone): boolean {
  if (statement.kind === 'heads' || statement.kind === 'chain-start') return false;
  if (statement.kind === 'erasure') return !statement.heads.every((head) => isGone(head));
  if (statement.kind === 'gap') return !isGone({ ...statement, sequence: statement.to, chain: '' });
  if (statement.kind === 'foreign') return !isGone({ ...statement, sequence: statement.through, chain: '' });
  return statement.kind === 'cut' ? !isGone(statement.cut, 1) : true;
}
