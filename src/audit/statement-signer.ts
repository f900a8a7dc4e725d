import type { AuditStatement, NumberedText, StatementMark } from '../domain/audit/audit-record.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AuditTrail, NextStatement, StatementMarks } from '../domain/ports/audit-store.ts';
import { readSignedHeads, signText } from './sign-statement.ts';
import { openSigningKey, type SigningKey } from './signing-keys.ts';
import { FIRST_STATEMENT_LINK, markOf, nextStatementLink } from './statement-links.ts';
import { findLostMark, findLostMarks, readMarks, writeMarkFile } from './statement-marks.ts';
import { walkStatements } from './walk-statements.ts';

export type ChainStart = Extract<NumberedText, { kind: 'chain-start' }>;
export type Rollback = Extract<NumberedText, { kind: 'rollback' }>;

/**
 * Signs statements. Each contains the next number and the hash of the chain before it. There is one chain per trail, even if several keys
 * sign. After each statement, the marks in the folder of the keys and in the store are updated. If a trail does not reach a mark, nothing
 * more is signed, because the next statement would hide the loss.
 */
export interface StatementSigner {
  /** Signs statement 1, with the current heads. Undefined: the chain was started before. */
  startChain(trail: AuditTrail, at: number): Promise<ChainStart | undefined>;
  /**
   * Signs the statement that `make` returns. `make` and `write` run again if another process has signed in between. `make` returns
   * undefined if there is nothing left to sign. Returns what `write` returned; without `write` the statement is added to the trail.
   */
  sign<Result = 'added'>(
    trail: AuditTrail,
    make: () => AuditStatement | undefined | Promise<AuditStatement | undefined>,
    write?: (statement: NextStatement) => Promise<Result | 'stale'>,
  ): Promise<Result | undefined>;
  /**
   * Signs that the operator gives up every mark that the trail does not reach. Undefined: the trail reaches all of them, and nothing was
   * signed.
   */
  acceptRollback(
    trail: AuditTrail,
    facts: { readonly at: number; readonly reason: string; readonly by: string },
  ): Promise<Rollback | undefined>;
}

export interface SignerOptions {
  /** The store, which also keeps a mark. If absent, only the folder of the keys keeps one. */
  readonly store?: StatementMarks | undefined;
  /** Signs instead of the key in the folder. Used for the last statement of a key that is being replaced. */
  readonly key?: SigningKey;
}

const MAX_TRIES = 20;

/** Opens a signer. It reads the key for each statement, so that a rotated key is used without a restart. */
export function openSigner(keys: string, { store, key }: SignerOptions = {}): StatementSigner {
  async function add<Result>(
    text: NumberedText,
    after: number,
    write: (statement: NextStatement) => Promise<Result | 'stale'>,
  ): Promise<Result | 'stale'> {
    const signed = signText(text, key ?? openSigningKey(keys).key);
    const answer = await write({ ...signed, number: text.number, after });
    if (answer === 'stale') return answer;
    // The mark is written after the statement and never before it. After a crash in between, the mark is one statement behind, which is
    // allowed.
    const mark = { number: text.number, hash: nextStatementLink(text.previous, signed) };
    writeMarkFile(keys, mark);
    await store?.noteStatement(mark);
    return answer;
  }

  async function refuseLoss(trail: AuditTrail): Promise<void> {
    const problem = await findLostMark(trail, await readMarks(keys, store));
    if (problem !== undefined) throw planeError('AUDIT_WENT_BACK', { problem });
  }

  const startChain = (trail: AuditTrail, at: number): Promise<ChainStart | undefined> =>
    untilAdded(async () => {
      await refuseLoss(trail);
      const end = await readEnd(trail);
      if (end.number > 0) return undefined;
      const heads = await readSignedHeads(trail);
      const text: ChainStart = { kind: 'chain-start', at, older: end.older, heads, number: 1, previous: end.hash };
      return (await add(text, 0, addTo(trail))) === 'stale' ? 'stale' : text;
    });

  return {
    startChain,
    sign: <Result>(
      trail: AuditTrail,
      make: () => AuditStatement | undefined | Promise<AuditStatement | undefined>,
      write?: (statement: NextStatement) => Promise<Result | 'stale'>,
    ) =>
      untilAdded<Result>(async () => {
        // The end is read before `make` runs: if the trail changes while `make` reads it, the statement is stale.
        const end = await readEnd(trail);
        const statement = await make();
        if (statement === undefined) return undefined;
        if (end.number === 0) {
          await startChain(trail, statement.at);
          return 'stale';
        }
        await refuseLoss(trail);
        const text = { ...statement, number: end.number + 1, previous: end.hash };
        return add(text, end.number, write ?? (addTo(trail) as (next: NextStatement) => Promise<Result | 'stale'>));
      }),
    acceptRollback: (trail, facts) =>
      untilAdded(async () => {
        const marks = await readMarks(keys, store);
        const lost = await findLostMarks(trail, marks);
        if (lost.length === 0) return undefined;
        const end = await readEnd(trail);
        // The new number is above every mark, because marks never go back and a number must not be used twice.
        const number = Math.max(end.number, ...marks.map((mark) => mark.number)) + 1;
        const givenUp = lost.map(({ number: lostNumber, hash }) => ({ number: lostNumber, hash }));
        const text: Rollback = { kind: 'rollback', ...facts, after: end.number, givenUp, number, previous: end.hash };
        return (await add(text, end.number, addTo(trail))) === 'stale' ? 'stale' : text;
      }),
  };
}

const addTo = (trail: AuditTrail) => (statement: NextStatement) => trail.addStatement(statement);

async function untilAdded<Result>(attempt: () => Promise<Result | 'stale' | undefined>): Promise<Result | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const answer = await attempt();
    if (answer !== 'stale') return answer;
  }
  throw planeError('AUDIT_SINK_UNAVAILABLE', { problem: 'other processes add statements at the same time' });
}

/**
 * The end of the chain of statements. If no statement has a number yet, the end has the number 0 and the hash over the statements of an
 * older release; `older` is how many there are.
 */
async function readEnd(trail: AuditTrail): Promise<StatementMark & { readonly older: number }> {
  const last = await trail.lastStatement();
  if (last !== undefined && last.number > 0) {
    const mark = markOf(last);
    if (mark !== undefined) return { ...mark, older: 0 };
    const problem = `statement ${last.number} is none: its text has no number or another one`;
    throw planeError('AUDIT_WENT_BACK', { problem });
  }
  let [hash, older] = [FIRST_STATEMENT_LINK, 0];
  for await (const statement of walkStatements(trail)) {
    if (statement.number > 0) break;
    hash = nextStatementLink(hash, statement);
    older += 1;
  }
  return { number: 0, hash, older };
}
