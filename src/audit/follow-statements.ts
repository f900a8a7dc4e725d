import type { DroppedStatements, PlacedStatement, StatementMark } from '../domain/audit/audit-record.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { collectStatements, toLink, type CollectedStatements, type Statements } from './read-statements.ts';
import { checkStatement } from './sign-statement.ts';
import type { TrustedKeys } from './signing-keys.ts';
import { linkAfter, statementHash } from './statement-links.ts';
import { untilUnchanged } from './until-unchanged.ts';
import { continueChain, verifyStatements } from './verify-statements.ts';
import { walkStatements } from './walk-statements.ts';

export type Followed =
  | { readonly kind: 'good'; readonly statements: Statements }
  /** A statement is signed by a key that is not trusted here. It may be the key of another gateway, or of an attacker. */
  | { readonly kind: 'unknown-key'; readonly problem: string }
  | { readonly kind: 'bad'; readonly problem: string };

/** Reads the statements of a trail repeatedly. Each statement is read and checked once, as long as the trail only grows. */
export interface StatementFollower {
  /** Returns all current statements. The object is reused: a later `read` adds to it. Rejects when the signal is aborted. */
  read(signal?: AbortSignal): Promise<Followed>;
}

interface Known {
  readonly collected: CollectedStatements;
  readonly keyIds: Set<string>;
  /** The statement that was read last. */
  last?: StatementMark;
  /** How far the chain was verified. Absent: not yet. */
  chain?: StatementMark | undefined;
}

/**
 * Checked statements stay in memory: about 0.6 KB each if the statements list the head of one lane. Everything is read again if the last
 * known statement is no longer in the trail (another process dropped it, or an older copy was restored) or if a key is no longer trusted.
 */
export function followStatements(trail: AuditTrail, readKeys: () => TrustedKeys): StatementFollower {
  let known = nothingKnown();

  async function readOnce(signal: AbortSignal | undefined): Promise<Followed> {
    const keys = readKeys();
    const isTrusted = [...known.keyIds].every((id) => keys.has(id));
    if (!isTrusted || !(await isStillThere(trail, known.last))) known = nothingKnown();
    for await (const signed of walkStatements(trail, known.last?.number)) {
      signal?.throwIfAborted();
      const checked = checkStatement(signed, keys);
      if (checked.kind === 'bad') {
        const problem = `signed statement ${signed.number}: ${checked.problem}`;
        return { kind: checked.unknownKey === undefined ? 'bad' : 'unknown-key', problem };
      }
      known = addTo(known, signed, checked.statement);
    }
    const problem = verifyNew(known);
    if (problem === undefined) return { kind: 'good', statements: known.collected.statements };
    // Forget what was read: after an operator has repaired the trail, the next `read` must not return the old statements.
    known = nothingKnown();
    return { kind: 'bad', problem };
  }

  return {
    read: (signal) =>
      untilUnchanged(
        trail,
        () => readOnce(signal),
        ({ kind }) => kind === 'bad',
      ),
  };
}

const nothingKnown = (): Known => ({ collected: collectStatements(), keyIds: new Set() });

/** Whether a statement that was read earlier is still in its place. True if none was read. */
export async function isStillThere(trail: AuditTrail, mark: StatementMark | undefined): Promise<boolean> {
  if (mark === undefined) return true;
  const [found] = await trail.listStatements({ after: mark.number - 1, limit: 1 });
  return found?.number === mark.number && statementHash(found) === mark.hash;
}

function addTo(known: Known, signed: PlacedStatement, statement: Parameters<typeof toLink>[1]): Known {
  const link = toLink(signed, statement);
  known.collected.add(link);
  known.keyIds.add(signed.keyId);
  known.last = { number: link.number, hash: link.hash };
  return statement.kind === 'cut' && statement.dropped !== undefined ? forget(known, statement.dropped) : known;
}

/** Removes the statements that a signed cut has dropped. If the cut does not match what was read, the whole chain is verified again. */
function forget(known: Known, { through, hash, kept }: DroppedStatements): Known {
  const { links } = known.collected.statements;
  const keptHashes = new Map(kept.map((mark) => [mark.number, mark.hash]));
  const end = links.find(({ number }) => number === through);
  const isSameEnd = end?.previous !== undefined && linkAfter(end.previous, end.hash) === hash;
  const collected = collectStatements();
  for (const link of links) {
    if (link.number > through || keptHashes.get(link.number) === link.hash) collected.add(link);
  }
  const isSameKept = links.length - collected.statements.count === countThrough(links, through) - kept.length;
  const isVerified = isSameEnd && isSameKept && known.chain !== undefined && through <= known.chain.number;
  return { ...known, collected, chain: isVerified ? known.chain : undefined };
}

function countThrough(links: Statements['links'], through: number): number {
  const next = links.findIndex(({ number }) => number > through);
  return next === -1 ? links.length : next;
}

/** Verifies the statements that were added since the last time. Returns the first problem. */
function verifyNew(known: Known): string | undefined {
  const { statements } = known.collected;
  if (known.chain === undefined) {
    // The chain is compared with no marks here: the signer does that before it signs.
    const { last, problem } = verifyStatements(statements, []);
    known.chain = last;
    return problem;
  }
  const { number } = known.chain;
  const first = statements.links.findLastIndex((link) => link.number <= number) + 1;
  for (const link of statements.links.slice(first)) {
    const next = continueChain(link, known.chain);
    if (typeof next === 'string') return next;
    known.chain = next;
  }
  return undefined;
}
