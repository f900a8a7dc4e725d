import type {
  AuditHead,
  AuditStatement,
  DroppedStatements,
  PlacedStatement,
  SignedHead,
  StatementMark,
} from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { parseRecord } from '../wire/audit-record.ts';
import { markOf, statementHash } from './statement-links.ts';

const AT_ONCE = 500;
/** A cut names every statement that it keeps. */
const MAX_KEPT = 1000;

/**
 * Which statements go together with the records that a cut deletes; nothing when none can. Without this, statements would outlive what
 * they vouch for, one for each time heads are signed. Goes from the oldest to the first one that vouches for a record that stays, and
 * always leaves the last heads: they tell that a lane was there. Other statements on the way are kept and named.
 */
export async function planDrop(trail: AuditTrail, cut: SignedHead): Promise<DroppedStatements | undefined> {
  const isGone = await readCuts(trail, cut);
  // All heads of statements without a number are older than those of statement 1. While that one stays, none of them has to be read.
  const [first] = await trail.listStatements({ after: 0, limit: 1 });
  if (first === undefined || (first.number === 1 && vouches(first, isGone))) return undefined;
  const needed: StatementMark[] = [];
  let seen = 0;
  let last: PlacedStatement | undefined;
  let plan: DroppedStatements | undefined;
  for (let after: number | undefined; ; after = last?.number) {
    const page = await trail.listStatements({ ...(after === undefined ? {} : { after }), limit: AT_ONCE });
    for (const statement of page) {
      if (hasHeads(statement)) {
        const isLess = last !== undefined && last.number > 0 && seen > needed.length;
        if (isLess) plan = dropThrough(last!, needed);
        if (vouches(statement, isGone)) return plan;
      }
      if (isNeeded(statement, isGone)) needed.push({ number: statement.number, hash: statementHash(statement) });
      if (needed.length > MAX_KEPT) return plan;
      seen += 1;
      last = statement;
    }
    if (page.length < AT_ONCE) return plan;
  }
}

function dropThrough(last: PlacedStatement, needed: readonly StatementMark[]): DroppedStatements | undefined {
  const mark = markOf(last);
  return mark && { through: mark.number, hash: mark.hash, kept: [...needed] };
}

type IsGone = (head: SignedHead, from?: number) => boolean;

/** Whether a lane's record with this sequence is deleted, or will be by this cut. */
async function readCuts(trail: AuditTrail, cut: SignedHead): Promise<IsGone> {
  const cuts = new Map<string, number>();
  for (const head of await trail.auditHeads()) cuts.set(laneOf(head), await readCut(trail, head));
  cuts.set(laneOf(cut), cut.sequence);
  return (head, more = 0) => head.sequence + more <= (cuts.get(laneOf(head)) ?? 0);
}

async function readCut(trail: AuditTrail, { store, lane, sequence }: AuditHead): Promise<number> {
  const [first] = await trail.readTrail({ store, lane, fromSequence: 0, limit: 1 });
  if (first === undefined) return sequence;
  // What cannot be read vouches for nothing that may go.
  return (parseRecord(first.text)?.sequence ?? 1) - 1;
}

const laneOf = ({ store, lane }: Pick<SignedHead, 'store' | 'lane'>): string => `${lane} ${store}`;

const readText = ({ text }: PlacedStatement): AuditStatement => JSON.parse(text) as AuditStatement;

function hasHeads(statement: PlacedStatement): boolean {
  const { kind } = readText(statement);
  return kind === 'heads' || kind === 'chain-start';
}

/** It is about heads, and one of them is of a record that stays. */
function vouches(statement: PlacedStatement, isGone: IsGone): boolean {
  const text = readText(statement);
  return (text.kind === 'heads' || text.kind === 'chain-start') && !text.heads.every((head) => isGone(head));
}

/** Everything but heads is kept until it says nothing any more: an erasure of deleted records, a cut with a later one behind it. */
function isNeeded(statement: PlacedStatement, isGone: IsGone): boolean {
  const text = readText(statement);
  if (text.kind === 'heads' || text.kind === 'chain-start') return false;
  if (text.kind === 'erasure') return !text.heads.every((head) => isGone(head));
  if (text.kind === 'gap') return !isGone({ ...text, sequence: text.to, chain: '' });
  if (text.kind === 'foreign') return !isGone({ ...text, sequence: text.through, chain: '' });
  return text.kind === 'cut' ? !isGone(text.cut, 1) : true;
}
