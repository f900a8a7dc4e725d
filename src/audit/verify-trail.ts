import type {
  AuditHead,
  AuditRecord,
  ChainedRecord,
  ForeignStatement,
  GapStatement,
  SignedHead,
  StatementMark,
} from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { firstLink, nextLink, parseRecord, payloadDigest } from '../wire/audit-record.ts';
import { crossGaps, distinct, findLost } from './accepted-gaps.ts';
import { readStatements, type Statements } from './read-statements.ts';
import type { TrustedKeys } from './signing-keys.ts';
import type { KeptMark } from './statement-marks.ts';
import type { ExpectedTrail } from './expected-trail.ts';
import { describeStatements, findUnsigned } from './find-unsigned.ts';
import { verifyStatements } from './verify-statements.ts';

export interface Verification {
  readonly records: number;
  readonly statements: number;
  /** Number and hash of the last signed statement. */
  readonly statement?: StatementMark;
  readonly lanes: readonly VerifiedLane[];
  /** What was lost or started anew, with a signature: in order, and to be known. */
  readonly notices: readonly string[];
  /** Records that were lost, with the word of an operator that it goes on without them. */
  readonly gaps: readonly GapStatement[];
  /** What roles have appended to a lane by hand. */
  readonly foreign: readonly ForeignStatement[];
  /** The first thing that is wrong. */
  readonly problem?: AuditProblem;
}

export interface VerifiedLane {
  readonly store: string;
  readonly lane: number;
  /** The first record that is kept; those before it were cut. */
  readonly first: number;
  readonly last: number;
  readonly chain: string;
  /** Up to here a signed head vouches for it; 0: none does. */
  readonly signed: number;
  /** Store time of the first record behind that. */
  readonly unsignedSince?: number;
}

export interface AuditProblem {
  readonly store?: string;
  readonly lane?: number;
  /** Of the first bad or missing record. */
  readonly sequence?: number;
  readonly what: string;
}

/** What the store itself remembers: a lane has at least so many records. */
export interface KnownLength {
  readonly store: string;
  readonly lane: number;
  readonly sequence: number;
  /** Records that it has counted and that have neither been handed over nor wait. */
  readonly missing?: number;
}

/** What a trail is held against beside its own chains. Absent: it is not. */
export interface TrailChecks {
  readonly marks?: readonly KeptMark[];
  readonly expected?: ExpectedTrail;
  /** How long records, and a new key, may be without a signed statement; `now` in store time. */
  readonly unsigned?: { readonly now: number; readonly maxMs: number; readonly keyAgeMs?: number };
}

const AT_ONCE = 500;

/** Recomputes every chain from its beginning, and holds it against the heads, the signatures and what the store knows. */
export async function verifyTrail(
  trail: AuditTrail,
  keys: TrustedKeys,
  known: readonly KnownLength[] = [],
  { marks = [], expected, unsigned }: TrailChecks = {},
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
  return end(findLost(known, statements.gaps) ?? (unsigned && findUnsigned(statements, lanes, unsigned)));
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
  const isHere = (other: { store: string; lane: number }): boolean => other.store === store && other.lane === lane;
  const cut = statements.cuts.findLast(isHere);
  const signed = new Map(statements.heads.filter(isHere).map((each) => [each.sequence, each] as const));
  const expected = new Map(exported.filter(isHere).map((each) => [each.sequence, each.chain] as const));
  const longest = Math.max(0, ...signed.keys());
  let unsignedSince: number | undefined;
  const gaps = statements.gaps.filter(isHere);
  const first = (cut?.sequence ?? 0) + 1;
  let chain: Uint8Array = cut === undefined ? firstLink(store, lane) : Buffer.from(cut.chain, 'hex');
  let sequence = first - 1;
  let checked = 0;
  const fail = (at: number, what: string): LaneResult => ({
    checked,
    problem: { sequence: at, what },
  });
  for (;;) {
    const page = await trail.readTrail({
      store,
      lane,
      // What stands before the first record was brought in; see `findProblem`.
      fromSequence: sequence < first ? Number.MIN_SAFE_INTEGER : sequence + 1,
      limit: AT_ONCE,
    });
    for (const chained of page) {
      sequence = crossGaps(sequence, parseRecord(chained.text)?.sequence ?? 0, gaps);
      const problem = findProblem(chained, { store, lane, sequence: sequence + 1, chain }, statements);
      if (problem !== undefined) return fail(sequence + 1, problem);
      ({ chain } = chained);
      sequence += 1;
      checked += 1;
      const vouched = signed.get(sequence);
      if (vouched !== undefined && vouched.chain !== hex(chain)) {
        return fail(sequence, 'it is not the record that was there when the head was signed');
      }
      if ((expected.get(sequence) ?? hex(chain)) !== hex(chain)) {
        return fail(sequence, 'it is not the record that the exported file knows');
      }
      if (sequence > longest) unsignedSince ??= parseRecord(chained.text)?.at;
    }
    if (page.length < AT_ONCE) break;
  }
  const told = Math.max(0, ...known.filter(isHere).map((each) => each.sequence));
  if (longest > sequence) return fail(sequence + 1, `it is missing; a signed head says that there are ${longest}`);
  if (head.sequence !== sequence || hex(head.chain) !== hex(chain)) {
    return fail(sequence + 1, `it is missing, or the head is wrong: that says ${head.sequence}`);
  }
  const exportedLast = Math.max(0, ...expected.keys());
  if (exportedLast > sequence) return fail(sequence + 1, `it is missing; the exported file knows ${exportedLast}`);
  if (crossGaps(sequence, told + 1, gaps) < told) {
    return fail(sequence + 1, `it is missing; the store has handed over ${told}`);
  }
  const loose = unsignedSince === undefined ? {} : { unsignedSince };
  const verified = { store, lane, first, last: sequence, chain: hex(chain), signed: longest, ...loose };
  return { checked, verified };
}

type Expected = Pick<AuditRecord, 'store' | 'lane' | 'sequence'> & { readonly chain: Uint8Array };

function findProblem(chained: ChainedRecord, expected: Expected, statements: Statements): string | undefined {
  const record = parseRecord(chained.text);
  if (record === undefined) return 'it cannot be read';
  if (record.sequence !== expected.sequence) {
    return record.sequence > expected.sequence
      ? `it is missing; record ${record.sequence} stands in its place`
      : `record ${record.sequence} stands in its place`;
  }
  if (record.store !== expected.store || record.lane !== expected.lane) return 'it belongs to another lane';
  if (hex(nextLink(expected.chain, chained.text)) !== hex(chained.chain)) {
    return 'it was changed, or its link to the record before it was';
  }
  if (chained.wrongColumn !== undefined) return `its index says another ${chained.wrongColumn} than the record`;
  const { payload } = chained;
  if (payload === undefined)
    return isErased(record, statements.erasures) ? undefined : 'its payload is gone, and no erasure says so';
  return payloadDigest(payload.salt, payload.bytes) === record.payloadDigest ? undefined : 'its payload was changed';
}

function isErased(record: AuditRecord, erasures: Statements['erasures']): boolean {
  return erasures.some(
    ({ tenant, subject, heads }) =>
      tenant === record.tenant &&
      subject === record.subject &&
      heads.some(
        (head: SignedHead) =>
          head.store === record.store && head.lane === record.lane && head.sequence >= record.sequence,
      ),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
