import type { AuditStatement, GapStatement } from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { checkStatement } from './sign-statement.ts';
import { readTrustedKeys } from './signing-keys.ts';
import { openSigner, type SignerOptions } from './statement-signer.ts';

/** What a drain says about a lane, and what an operator has told it. */
export interface DrainStatements {
  add(statement: AuditStatement): Promise<void>;
  /** Gaps of a lane that an operator has accepted, signed by a trusted key. */
  gaps(place: { readonly store: string; readonly lane: number }): Promise<readonly GapStatement[]>;
}

const AT_ONCE = 500;

/** The keys are read each time, so that one that was rotated is used without a restart. */
export function drainStatements(trail: AuditTrail, keyFolder: string, options: SignerOptions = {}): DrainStatements {
  const signer = openSigner(keyFolder, options);
  return {
    async add(statement) {
      await signer.sign(trail, () => statement);
    },
    async gaps({ store, lane }) {
      const trusted = readTrustedKeys(keyFolder);
      const gaps: GapStatement[] = [];
      for (let after: number | undefined; ;) {
        const page = await trail.listStatements({ ...(after === undefined ? {} : { after }), limit: AT_ONCE });
        for (const signed of page) {
          const checked = checkStatement(signed, trusted);
          if (checked.kind === 'bad' || checked.statement.kind !== 'gap') continue;
          if (checked.statement.store === store && checked.statement.lane === lane) gaps.push(checked.statement);
        }
        if (page.length < AT_ONCE) return gaps;
        after = page.at(-1)!.number;
      }
    },
  };
}
