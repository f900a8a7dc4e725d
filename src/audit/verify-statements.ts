import type { StatementMark } from '../domain/audit/audit-record.ts';
import type { ReadLink, ReadRollback, Statements } from './read-statements.ts';
import { FIRST_STATEMENT_LINK, linkAfter } from './statement-links.ts';
import { describeAhead, describeOther, isSame, type KeptMark } from './statement-marks.ts';

export interface StatementChain {
  /** Number and hash of the last statement. Absent: none is numbered. */
  readonly last?: StatementMark;
  /** The first problem that was found. */
  readonly problem?: string;
}

/**
 * Verifies the chain of statements: no number is missing or occurs twice, each statement continues the one before it, and missing
 * statements were dropped by a signed cut or given up by a signed rollback. Then compares the chain with the marks and with an exported
 * mark.
 */
export function verifyStatements(
  statements: Statements,
  marks: readonly KeptMark[],
  expected?: StatementMark,
): StatementChain {
  const begin = findBeginning(statements);
  if (typeof begin === 'string') return { problem: begin };
  const wanted = new Map<number, string>();
  let { number, hash } = begin.at;
  for (const link of begin.rest) {
    const next = continueChain(link, { number, hash });
    if (typeof next === 'string') return { problem: next };
    ({ number, hash } = next);
    if (number === expected?.number || marks.some((mark) => mark.number === number)) wanted.set(number, hash);
  }
  const last = number > 0 ? { last: { number, hash } } : {};
  const problem =
    findLoss(statements, marks, wanted, number) ?? (expected && findDivergence(statements, expected, wanted, number));
  return { ...last, ...(problem === undefined ? {} : { problem }) };
}

/** The end of the chain after one more statement, or the problem of that statement as text. */
export function continueChain(link: ReadLink, { number, hash }: StatementMark): StatementMark | string {
  const problem = findBreak(link, number, hash);
  return problem ?? { number: link.number, hash: linkAfter(hash, link.hash) };
}

/** The number from which the chain must be complete, and the statements after it. Returns the problem as text if there is one. */
function findBeginning({ links, dropped }: Statements) {
  const from = dropped?.through ?? 0;
  const older = links.filter(({ number }) => number <= from);
  const rest = links.slice(older.length);
  if (dropped !== undefined) {
    const isKept = (link: ReadLink, index: number): boolean => {
      const kept = dropped.kept[index];
      return kept !== undefined && isSame(kept, link);
    };
    if (older.length !== dropped.kept.length || !older.every(isKept)) {
      return `signed statements up to ${from} are not the ${dropped.kept.length} that the last cut has kept`;
    }
    return { at: { number: from, hash: dropped.hash }, rest };
  }
  // These statements are from a release that did not number them. Statement 1 was signed over all of them.
  const numbered = older.find(({ signedNumber }) => signedNumber !== undefined);
  if (numbered !== undefined) return `signed statement ${numbered.signedNumber} is not in its place`;
  const hash = older.reduce((link, each) => linkAfter(link, each.hash), FIRST_STATEMENT_LINK);
  return { at: { number: 0, hash }, rest };
}

function findBreak(link: ReadLink, before: number, hash: string): string | undefined {
  const { number, signedNumber, previous, statement, after } = link;
  const { kind } = statement;
  if (signedNumber === undefined) return `signed statement ${number} has no number: it is from before the chain`;
  if (signedNumber !== number) return `signed statement ${signedNumber} stands in the place of ${number}`;
  const isNext = number === before + 1;
  if (!isNext && !(kind === 'rollback' && after === before)) {
    const which = number === before + 2 ? ` ${before + 1} is` : `s ${before + 1} to ${number - 1} are`;
    return `signed statement${which} missing: after ${before} comes ${number}`;
  }
  if (previous !== hash) {
    return number === 1 && before === 0
      ? 'signed statement 1 was made over other older statements: some were changed, added or deleted'
      : `signed statement ${number} does not continue the one before it`;
  }
  if (kind === 'chain-start' && number !== 1) return `signed statement ${number} starts the chain a second time`;
  return undefined;
}

function findLoss(
  statements: Statements,
  marks: readonly KeptMark[],
  hashes: ReadonlyMap<number, string>,
  lastNumber: number,
): string | undefined {
  for (const mark of marks) {
    const found = hashes.get(mark.number);
    if (found === mark.hash || (found === undefined && isDropped(statements, mark))) continue;
    if (statements.rollbacks.some((rollback) => givesUp(rollback, mark))) continue;
    return mark.number > lastNumber ? describeAhead(lastNumber, mark) : describeOther(mark);
  }
  return undefined;
}

const isDropped = ({ dropped }: Statements, { number }: StatementMark): boolean =>
  dropped !== undefined && number <= dropped.through;

/**
 * Whether a rollback gives up a mark: it names the mark's hash, or the mark's number is between the rollback and the statement that it
 * follows.
 */
function givesUp({ number, after, givenUp }: ReadRollback, mark: StatementMark): boolean {
  return (mark.number > after && mark.number < number) || givenUp.some((each) => isSame(each, mark));
}

/**
 * Why the chain does not continue the exported one. A rollback can give up a mark, but not an exported one: an attacker with the key could
 * sign such a rollback.
 */
function findDivergence(
  statements: Statements,
  expected: StatementMark,
  hashes: ReadonlyMap<number, string>,
  lastNumber: number,
): string | undefined {
  const found = hashes.get(expected.number);
  if (found === expected.hash || (found === undefined && isDropped(statements, expected))) return undefined;
  const mark = { ...expected, keeper: 'the exported file' };
  const rollback = statements.rollbacks.find((each) => givesUp(each, expected));
  if (rollback !== undefined)
    return `statement ${expected.number} of the exported file was given up by ${rollback.number}`;
  return expected.number > lastNumber ? describeAhead(lastNumber, mark) : describeOther(mark);
}
