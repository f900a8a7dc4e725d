import type { AuditStatement, GapStatement, PlacedStatement, StatementMark } from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { isStillThere } from './follow-statements.ts';
import { isInLane } from './same-lane.ts';
import { checkStatement } from './sign-statement.ts';
import { readTrustedKeys, type TrustedKeys } from './signing-keys.ts';
import { parseNumbered, statementHash } from './statement-links.ts';
import { openSigner, type SignerOptions } from './statement-signer.ts';
import { walkStatements } from './walk-statements.ts';

/** What a drain says about a lane, and what an operator has told it. */
export interface DrainStatements {
  add(statement: AuditStatement): Promise<void>;
  /** Gaps of a lane that an operator has accepted, signed by a trusted key. */
  gaps(place: { readonly store: string; readonly lane: number }): Promise<readonly GapStatement[]>;
}

export interface DrainStatementsOptions extends SignerOptions {
  /** Folder with public keys of other gateways. */
  readonly trustedKeys?: string | undefined;
}

/** The keys are read each time, so that one that was rotated is used without a restart. */
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
 * All accepted gaps. Asked for in every round of a lane that has stopped, so it reads only statements that are new, and checks only
 * gaps. A gap by an unknown key is remembered and checked again when its key was added to a folder. It holds up no gap behind it.
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
    // Dropped by retention, or given up by a rollback: what was read behind that may not count any more.
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

  // The lanes ask at the same time, and share one reading.
  let reading: Promise<GapStatement[]> | undefined;
  return () => (reading ??= readNew().finally(() => (reading = undefined)));
}
