import type {
  AuditHead,
  ForeignStatement,
  GapStatement,
  SignedHead,
  StatementMark,
} from '../domain/audit/audit-record.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { firstLink } from '../domain/audit/record-bytes.ts';
import { skipAcceptedGaps, distinct, findLost } from './accepted-gaps.ts';
import { readStatements, type Statements } from './read-statements.ts';
import type { TrustedKeys } from './signing-keys.ts';
import type { KeptMark } from './statement-marks.ts';
import type { ExpectedTrail } from './expected-trail.ts';
import { describeStatements, findUnsigned } from './find-unsigned.ts';
import { isInLane } from './same-lane.ts';
import { untilUnchanged } from './until-unchanged.ts';
import { verifyStatements } from './verify-statements.ts';
import { hex, walkLane } from './walk-lane.ts';

export interface Verification {
  readonly records: number;
  readonly statements: number;
  /** Number and hash of the last signed statement. */
  readonly statement?: StatementMark;
  readonly lanes: readonly VerifiedLane[];
  /** What an operator should know although the trail is valid: signed rollbacks, and that statements have no numbers yet. */
  readonly notices: readonly string[];
  /** Ranges of lost records that an operator has accepted with a signature. */
  readonly gaps: readonly GapStatement[];
  /** What processes with a Redis role have appended to a lane by hand. */
  readonly foreign: readonly ForeignStatement[];
  /** The first problem that was found. */
  readonly problem?: AuditProblem;
}

export interface VerifiedLane {
  readonly store: string;
  readonly lane: number;
  /** The first record that is kept; those before it were cut. */
  readonly first: number;
  readonly last: number;
  readonly chain: string;
  /** Sequence of the last signed head, which vouches for all records up to it; 0: no head is signed. */
  readonly signed: number;
  /** Store time of the first record after `signed`. Absent: all records are signed. */
  readonly unsignedSince?: number;
}

export interface AuditProblem {
  readonly store?: string;
  readonly lane?: number;
  /** Sequence of the first bad or missing record. */
  readonly sequence?: number;
  readonly what: string;
}

/** What the store itself knows about a lane: it has at least `sequence` records. */
export interface KnownLength {
  readonly store: string;
  readonly lane: number;
  readonly sequence: number;
  /** Number of records that the lane has counted, but that were neither handed over nor are waiting. */
  readonly missing?: number;
  /** Why the lane's drain has stopped, for another reason than missing records. */
  readonly alarm?: string;
}

/** What a trail is compared with in addition to its own chains. An absent field is not checked. */
export interface TrailChecks {
  readonly marks?: readonly KeptMark[];
  readonly expected?: ExpectedTrail;
  /** How long records, and a new key, may be without a signed statement; `now` is in store time. */
  readonly unsigned?: { readonly now: number; readonly maxMs: number; readonly keyAgeMs?: number };
}

/** Recomputes every chain from its beginning. Compares it with the heads, the signatures and what the store knows. */
export function verifyTrail(
  trail: AuditTrail,
  keys: TrustedKeys,
  known: readonly KnownLength[] = [],
  checks: TrailChecks = {},
): Promise<Verification> {
  return untilUnchanged(
    trail,
    () => verifyOnce(trail, keys, known, checks),
    ({ problem }) => problem !== undefined,
  );
}

async function verifyOnce(
  trail: AuditTrail,
  keys: TrustedKeys,
  known: readonly KnownLength[],
  { marks = [], expected, unsigned }: TrailChecks,
): Promise<Verification> {
  const read = await readStatements(trail, keys);
  const none = { records: 0, lanes: [], notices: [], gaps: [], foreign: [] };
  if (read.kind === 'bad') return { ...none, statements: read.count, problem: { what: read.problem } };
  const { statements } = read;
  const chain = verifyStatements(statements, marks, expected?.statement);
  const facts = { statements: statements.count, ...(chain.last === undefined ? {} : { statement: chain.last }) };
  const notices = describeStatements(statements);
  if (chain.problem !== undefined) return { ...none, ...facts, notices, problem: { what: chain.problem } };
  const lanes: VerifiedLane[] = [];
  let records = 0;
  const end = (problem?: AuditProblem): Verification => ({
    records,
    ...facts,
    lanes,
    notices,
    gaps: statements.gaps,
    foreign: distinct(statements.foreign),
    ...(problem === undefined ? {} : { problem }),
  });
  const heads = await trail.auditHeads();
  const exported = expected?.lanes ?? [];
  const missing = missingLane(heads, [...statements.heads, ...known, ...exported]);
  if (missing !== undefined) return end(missing);
  for (const head of heads) {
    const lane = await verifyLane(trail, head, statements, known, exported);
    records += lane.checked;
    if (lane.problem !== undefined) return end({ store: head.store, lane: head.lane, ...lane.problem });
    lanes.push(lane.verified!);
  }
  const lost = findLost(known, statements.gaps) ?? findStopped(known);
  return end(lost ?? (unsigned && findUnsigned(statements, lanes, unsigned)));
}

/** Finds a lane whose drain has stopped: the records in the trail may be in order while new ones do not arrive. */
function findStopped(known: readonly KnownLength[]): AuditProblem | undefined {
  const stopped = known.find(({ alarm }) => alarm !== undefined);
  if (stopped === undefined) return undefined;
  const { store, lane, sequence, alarm } = stopped;
  return { store, lane, sequence: sequence + 1, what: `it does not arrive: the drain has stopped: ${alarm}` };
}

function missingLane(heads: readonly AuditHead[], known: readonly KnownLength[]): AuditProblem | undefined {
  const lanes = new Set(heads.map(({ store, lane }) => `${lane} ${store}`));
  const gone = known.find(({ store, lane, sequence }) => sequence > 0 && !lanes.has(`${lane} ${store}`));
  return gone && { store: gone.store, lane: gone.lane, sequence: 1, what: 'the whole lane is gone' };
}

interface LaneResult {
  readonly checked: number;
  readonly problem?: AuditProblem;
  readonly verified?: VerifiedLane;
}

async function verifyLane(
  trail: AuditTrail,
  head: AuditHead,
  statements: Statements,
  known: readonly KnownLength[],
  exported: readonly SignedHead[],
): Promise<LaneResult> {
  const { store, lane } = head;
  const isHere = isInLane(head);
  const expected = new Map(exported.filter(isHere).map((each) => [each.sequence, each.chain] as const));
  // `Math.max(...)` is not used: there may be hundreds of thousands of heads, too many for the arguments of one call.
  const longest = statements.heads.filter(isHere).reduce((max, each) => Math.max(max, each.sequence), 0);
  const gaps = statements.gaps.filter(isHere);
  const cut = statements.cuts.findLast(isHere);
  const first = (cut?.sequence ?? 0) + 1;
  let chain = cut?.chain ?? hex(firstLink(store, lane));
  let sequence = first - 1;
  let checked = 0;
  let unsignedSince: number | undefined;
  const fail = (at: number, what: string): LaneResult => ({ checked, problem: { sequence: at, what } });
  for await (const step of walkLane(trail, head, statements)) {
    if (step.kind === 'problem') return fail(step.sequence, step.what);
    ({ sequence } = step);
    chain = hex(step.chained.chain);
    checked += 1;
    if ((expected.get(sequence) ?? chain) !== chain) {
      return fail(sequence, 'it is not the record that the exported file knows');
    }
    if (sequence > longest) unsignedSince ??= step.record.at;
  }
  const handedOver = Math.max(0, ...known.filter(isHere).map((each) => each.sequence));
  if (longest > sequence) return fail(sequence + 1, `it is missing; a signed head says that there are ${longest}`);
  if (head.sequence !== sequence || hex(head.chain) !== chain) {
    return fail(sequence + 1, `it is missing, or the head is wrong: that says ${head.sequence}`);
  }
  const exportedLast = Math.max(0, ...expected.keys());
  if (exportedLast > sequence) return fail(sequence + 1, `it is missing; the exported file knows ${exportedLast}`);
  if (skipAcceptedGaps(sequence, handedOver + 1, gaps) < handedOver) {
    return fail(sequence + 1, `it is missing; the store has handed over ${handedOver}`);
  }
  const loose = unsignedSince === undefined ? {} : { unsignedSince };
  const verified = { store, lane, first, last: sequence, chain, signed: longest, ...loose };
  return { checked, verified };
}
