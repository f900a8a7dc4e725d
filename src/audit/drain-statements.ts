import type { AuditStatement, GapStatement } from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { isInLane } from './same-lane.ts';
import { checkStatement } from './sign-statement.ts';
import { readTrustedKeys } from './signing-keys.ts';
import { parseNumbered } from './statement-links.ts';
import { openSigner, type SignerOptions } from './statement-signer.ts';
import { walkStatements } from './walk-statements.ts';

/** What a drain says about a lane, and what an operator has told it. */
export interface DrainStatements {
  add(statement: AuditStatement): Promise<void>;
  /** Gaps of a lane that an operator has accepted, signed by a trusted key. */
  gaps(place: { readonly store: string; readonly lane: number }): Promise<readonly GapStatement[]>;
}

/** The keys are read each time, so that one that was rotated is used without a restart. */
export function drainStatements(trail: AuditTrail, keyFolder: string, options: SignerOptions = {}): DrainStatements {
  const signer = openSigner(keyFolder, options);
  const known = new Map<number, GapStatement>();
  let readUpTo: number | undefined;
  return {
    async add(statement) {
      await signer.sign(trail, () => statement);
    },
    /** Asked for in every round of a lane that has stopped, so it reads only statements that are new, and checks only gaps. */
    async gaps(place) {
      for await (const signed of walkStatements(trail, readUpTo)) {
        if (parseNumbered(signed.text)?.kind === 'gap') {
          const checked = checkStatement(signed, readTrustedKeys(keyFolder));
          // A key may be added to the folder later: statements behind this one are read again until it is trusted.
          if (checked.kind === 'bad') break;
          known.set(signed.number, checked.statement as GapStatement);
        }
        readUpTo = signed.number;
      }
      return [...known.values()].filter(isInLane(place));
    },
  };
}
