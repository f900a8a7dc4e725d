import type { AuditStatement, GapStatement, PlacedStatement, StatementMark } from '../domain/audit/audit-record.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { isStillThere } from './follow-statements.ts';
import { isInLane } from './same-lane.ts';
import { checkStatement } from './sign-statement.ts';
import { readTrustedKeys, type TrustedKeys } from './signing-keys.ts';
import { parseNumbered, statementHash } from './statement-links.ts';
import { openSigner, type SignerOptions } from './statement-signer.ts';
import { walkStatements } from './walk-statements.ts';

/** The signed statements that a drain adds about a lane, and those of operators that the drain obeys. */
export interface DrainStatements {
  add(statement: AuditStatement): Promise<void>;
  /** Gaps of a lane that an operator has accepted, signed by a trusted key. */
  gaps(place: { readonly store: string; readonly lane: number }): Promise<readonly GapStatement[]>;
}

export interface DrainStatementsOptions extends SignerOptions {
  /** Folder with the public keys of other gateways. */
  readonly trustedKeys?: string | undefined;
}

/** Reads the keys each time, so that a rotated key is used without a restart. */
export function drainStatements(
  trail: AuditTrail,
  keyFolder: string,
  { trustedKeys, ...options }: DrainStatementsOptions = {},
): DrainStatements {
  const signer = openSigner(keyFolder, options);
  const accepted = followGaps(trail, () => readTrustedKeys(keyFolder, trustedKeys));
  return {
    async add(statement) {
      await signer.sign(trail, () => statement);
    },
    gaps: async (place) => (await accepted()).filter(isInLane(place)),
  };
}

/**
 * Returns all accepted gaps. A lane that has stopped calls it in every round, so it reads only new statements and checks only gaps. A gap
 * that is signed by an unknown key is kept and checked again later, because its key may be added to a folder. Meanwhile the gaps after it
 * are read as usual.
 */
function followGaps(trail: AuditTrail, readKeys: () => TrustedKeys): () => Promise<GapStatement[]> {
  let known: GapStatement[] = [];
  let ofUnknownKeys: PlacedStatement[] = [];
  let last: StatementMark | undefined;

  function check(signed: PlacedStatement, keys: TrustedKeys): void {
    const checked = checkStatement(signed, keys);
    if (checked.kind === 'good') known.push(checked.statement as GapStatement);
    else if (checked.unknownKey !== undefined) ofUnknownKeys.push(signed);
  }

  async function readNew(): Promise<GapStatement[]> {
    // Retention dropped the last statement that was read, or a rollback gave it up. The gaps read so far may no longer be valid, so
    // everything is read again.
    if (!(await isStillThere(trail, last))) [known, ofUnknownKeys, last] = [[], [], undefined];
    const keys = readKeys();
    const waiting = ofUnknownKeys;
    ofUnknownKeys = [];
    for (const signed of waiting) check(signed, keys);
    for await (const signed of walkStatements(trail, last?.number)) {
      if (parseNumbered(signed.text)?.kind === 'gap') check(signed, keys);
      last = { number: signed.number, hash: statementHash(signed) };
    }
    return known;
  }

  // The lanes call this at the same time and share one read.
  let reading: Promise<GapStatement[]> | undefined;
  return () => (reading ??= readNew().finally(() => (reading = undefined)));
}
