import type { NumberedText, PlacedStatement, SignedStatement, StatementMark } from '../domain/audit/audit-record.ts';
import { sha256, sha256Bytes } from '../base/sha256.ts';

/** The hash that the first statement is chained to. */
export const FIRST_STATEMENT_LINK = sha256('sallyport audit statements 1\n');

/** The hash of one statement with its signature, whatever its place in the chain. */
export function statementHash({ text, keyId, signature }: SignedStatement): string {
  return sha256(Buffer.concat([sha256Bytes(Buffer.from(text)), Buffer.from(`${keyId}\n`), signature]));
}

/** The hash of the chain after this statement. */
export function nextStatementLink(previous: string, statement: SignedStatement): string {
  return linkAfter(previous, statementHash(statement));
}

/** The hash of the chain after a statement of which only the hash is known. */
export function linkAfter(previous: string, hash: string): string {
  return sha256(`${previous}\n${hash}\n`);
}

/** A statement that has a number and `previous`; undefined for one of an older release, or for a text that is not a statement. */
export function parseNumbered(text: string): NumberedText | undefined {
  try {
    const value = JSON.parse(text) as Partial<NumberedText> | null;
    const isNumbered = Number.isSafeInteger(value?.number) && typeof value?.previous === 'string';
    return isNumbered ? (value as NumberedText) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The mark of a statement: its number, and the chain's hash after it according to the statement itself. Undefined if the statement has no
 * number, or not the number of its row.
 */
export function markOf(statement: PlacedStatement): StatementMark | undefined {
  const text = parseNumbered(statement.text);
  if (text === undefined || text.number !== statement.number) return undefined;
  return { number: text.number, hash: nextStatementLink(text.previous, statement) };
}
