import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StatementMark } from '../domain/audit/audit-record.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AuditTrail, MarkReader } from '../domain/ports/audit-store.ts';
import { randomId } from '../domain/identity/new-id.ts';
import { markOf, parseNumbered } from './statement-links.ts';
import { walkStatements } from './walk-statements.ts';

const MARK_FILE = 'last-statement.json';
const HASH = /^[0-9a-f]{64}$/;

/** A mark, and the place that keeps it. If a trail does not reach the mark, the trail was shortened or an older copy was restored. */
export interface KeptMark extends StatementMark {
  readonly keeper: string;
}

/** Reads the marks that a trail is compared with: the one in the folder of the keys, and the one in the store if a store is given. */
export async function readMarks(keys: string, store: MarkReader | undefined): Promise<KeptMark[]> {
  const kept = await store?.statementMark();
  if (kept !== undefined && !isMark(kept.number, kept.hash)) {
    const problem = 'the mark in the store has no number or no hash, so it was written by hand';
    throw planeError('AUDIT_WENT_BACK', { problem });
  }
  const marks = [
    { keeper: 'the folder of the keys', mark: readMarkFile(keys) },
    { keeper: 'the store', mark: kept },
  ];
  return marks.flatMap(({ keeper, mark }) => (mark === undefined ? [] : [{ ...mark, keeper }]));
}

function readMarkFile(keys: string): StatementMark | undefined {
  const file = join(keys, MARK_FILE);
  let mark: StatementMark | undefined;
  try {
    mark = readMark(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw planeError('AUDIT_KEYS_UNSAFE', { file, problem: 'it cannot be read' }, error);
  }
  // A damaged file must not be treated like a missing mark: that would hide the loss that the mark reveals.
  if (mark === undefined) throw planeError('AUDIT_KEYS_UNSAFE', { file, problem: 'it holds no number and hash' });
  return mark;
}

function readMark(text: string): StatementMark | undefined {
  try {
    const { number, hash } = JSON.parse(text) as Partial<StatementMark>;
    return isMark(number, hash) ? { number: number!, hash: hash! } : undefined;
  } catch {
    return undefined;
  }
}

export const isMark = (number: unknown, hash: unknown): boolean =>
  Number.isSafeInteger(number) && (number as number) >= 1 && typeof hash === 'string' && HASH.test(hash);

/**
 * Writes the mark to disk before it returns. Never replaces a mark with a lower number. Call it only after the statement is in the trail.
 */
export function writeMarkFile(keys: string, mark: StatementMark): void {
  const known = readMarkFile(keys);
  if (known !== undefined && known.number >= mark.number) return;
  const file = join(keys, MARK_FILE);
  const fresh = `${file}.${randomId()}`;
  const opened = openSync(fresh, 'wx', 0o600);
  try {
    writeSync(opened, `${JSON.stringify({ number: mark.number, hash: mark.hash })}\n`);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(fresh, file);
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/**
 * Why the trail does not reach a mark; undefined if it does. Checks only the statement of that number: `verify` checks whether the chain is
 * complete.
 */
export async function findLostMark(trail: AuditTrail, marks: readonly KeptMark[]): Promise<string | undefined> {
  return (await findLostMarks(trail, marks))[0]?.problem;
}

export async function findLostMarks(
  trail: AuditTrail,
  marks: readonly KeptMark[],
): Promise<(KeptMark & { readonly problem: string })[]> {
  const lost: (KeptMark & { readonly problem: string })[] = [];
  // The last statement is read after the marks. A mark is always written after its statement, so an intact trail is never behind a mark.
  const last = marks.length === 0 ? undefined : await trail.lastStatement();
  for (const mark of marks) {
    const problem = await describeLoss(trail, Math.max(0, last?.number ?? 0), mark);
    if (problem !== undefined) lost.push({ ...mark, problem });
  }
  return lost;
}

async function describeLoss(trail: AuditTrail, lastNumber: number, mark: KeptMark): Promise<string | undefined> {
  if (mark.number > lastNumber) return describeAhead(lastNumber, mark);
  const [found] = await trail.listStatements({ after: mark.number - 1, limit: 1 });
  // No loss if the statement has the mark's hash. No loss either if only later statements are found: a signed cut dropped this one, or
  // `verify` reports that it is missing.
  if (found?.number !== mark.number || markOf(found)?.hash === mark.hash) return undefined;
  return (await isGivenUp(trail, mark)) ? undefined : describeOther(mark);
}

export function describeAhead(lastNumber: number, { number, keeper }: KeptMark): string {
  const end = lastNumber === 0 ? 'the trail has no statement' : `the trail ends at statement ${lastNumber}`;
  return `${end}, and ${keeper} knows statement ${number}: an older copy was put back, or statements were deleted`;
}

export function describeOther({ number, keeper }: KeptMark): string {
  return `statement ${number} is not the one that ${keeper} knows: an older copy was put back and signed on`;
}

async function isGivenUp(trail: AuditTrail, mark: StatementMark): Promise<boolean> {
  for await (const { text } of walkStatements(trail, mark.number)) {
    const statement = parseNumbered(text);
    if (statement?.kind === 'rollback' && statement.givenUp.some((each) => isSame(each, mark))) return true;
  }
  return false;
}

export const isSame = (one: StatementMark, other: StatementMark): boolean =>
  one.number === other.number && one.hash === other.hash;
