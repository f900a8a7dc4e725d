import type { SignedHead, StatementMark } from '../domain/audit/audit-record.ts';
import { isMark } from './statement-marks.ts';

/**
 * The output of an earlier `verify --json`, kept outside the trail. The current trail must begin with exactly that trail and may only
 * continue it.
 */
export interface ExpectedTrail {
  readonly statement?: StatementMark;
  readonly lanes: readonly SignedHead[];
}

interface Exported {
  readonly valid?: unknown;
  readonly statement?: Partial<StatementMark>;
  readonly lanes?: readonly {
    readonly store?: unknown;
    readonly lane?: unknown;
    readonly last?: unknown;
    readonly chain?: unknown;
  }[];
}

/** Parses the output of an earlier `verify --json`. If the text is wrong, returns the problem as a string. */
export function readExpected(text: string): ExpectedTrail | string {
  let exported: Exported | null;
  try {
    exported = JSON.parse(text) as Exported | null;
  } catch {
    return 'it is not JSON';
  }
  if (exported?.valid !== true || !Array.isArray(exported.lanes)) return 'it is not of a trail that was in order';
  const lanes = exported.lanes.map(({ store, lane, last, chain }) => ({ store, lane, sequence: last, chain }));
  if (!lanes.every(isHead)) return 'one of its lanes has no head';
  const { statement } = exported;
  if (statement === undefined) return { lanes };
  if (!isMark(statement.number, statement.hash)) return 'its statement has no number and hash';
  return { lanes, statement: { number: statement.number!, hash: statement.hash! } };
}

function isHead(head: Readonly<Record<keyof SignedHead, unknown>>): head is SignedHead {
  const { store, lane, sequence, chain } = head;
  return (
    typeof store === 'string' &&
    Number.isSafeInteger(lane) &&
    Number.isSafeInteger(sequence) &&
    typeof chain === 'string'
  );
}
