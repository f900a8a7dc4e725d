import type { AuditHead, AuditRecord, ChainedRecord, SignedHead } from '../domain/audit/audit-record.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { firstLink, nextLink, parseRecord, payloadDigest } from '../domain/audit/record-bytes.ts';
import { skipAcceptedGaps } from './accepted-gaps.ts';
import type { Statements } from './read-statements.ts';
import { isInLane } from './same-lane.ts';

const AT_ONCE = 500;

/** One step of a walk: a record that continues the chain, or the first problem. */
export type LaneStep =
  | {
      readonly kind: 'record';
      readonly sequence: number;
      readonly record: AuditRecord;
      readonly chained: ChainedRecord;
    }
  | { readonly kind: 'problem'; readonly sequence: number; readonly what: string };

/**
 * Walks a lane's records from the last signed cut on. Checks each record against the chain, its payload and the signed heads. Ends at the
 * first problem.
 */
export async function* walkLane(
  trail: AuditTrail,
  { store, lane }: Pick<AuditHead, 'store' | 'lane'>,
  statements: Statements,
): AsyncGenerator<LaneStep, void> {
  const isHere = isInLane({ store, lane });
  const cut = statements.cuts.findLast(isHere);
  const signed = chainsOf(statements.heads.filter(isHere));
  const gaps = statements.gaps.filter(isHere);
  const first = (cut?.sequence ?? 0) + 1;
  let chain: Uint8Array = cut === undefined ? firstLink(store, lane) : Buffer.from(cut.chain, 'hex');
  let sequence = first - 1;
  for (;;) {
    const page = await trail.readTrail({
      store,
      lane,
      // At the start also reads rows before the first record: they were inserted by hand, and `findProblem` reports them.
      fromSequence: sequence < first ? Number.MIN_SAFE_INTEGER : sequence + 1,
      limit: AT_ONCE,
    });
    for (const chained of page) {
      const record = parseRecord(chained.text);
      sequence = skipAcceptedGaps(sequence, record?.sequence ?? 0, gaps) + 1;
      const problem =
        findProblem(chained, record, { store, lane, sequence, chain }, statements) ??
        describeSigned(signed.get(sequence), hex(chained.chain));
      if (problem !== undefined) {
        yield { kind: 'problem', sequence, what: problem };
        return;
      }
      ({ chain } = chained);
      yield { kind: 'record', sequence, record: record!, chained };
    }
    if (page.length < AT_ONCE) return;
  }
}

const SIGNED_TWICE = Symbol('signed heads disagree');
type SignedChain = string | typeof SIGNED_TWICE;

/** The chain hash that was signed for each sequence. If two heads disagree, records were changed between the two signatures. */
function chainsOf(heads: readonly SignedHead[]): ReadonlyMap<number, SignedChain> {
  const chains = new Map<number, SignedChain>();
  for (const { sequence, chain } of heads) {
    chains.set(sequence, (chains.get(sequence) ?? chain) === chain ? chain : SIGNED_TWICE);
  }
  return chains;
}

function describeSigned(signed: SignedChain | undefined, chain: string): string | undefined {
  if (signed === undefined || signed === chain) return undefined;
  return signed === SIGNED_TWICE
    ? 'two signed heads say different things about it: it, or one before it, was changed between them'
    : 'it is not the record that was there when the head was signed';
}

type Expected = Pick<AuditRecord, 'store' | 'lane' | 'sequence'> & { readonly chain: Uint8Array };

function findProblem(
  chained: ChainedRecord,
  record: AuditRecord | undefined,
  expected: Expected,
  statements: Statements,
): string | undefined {
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

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
