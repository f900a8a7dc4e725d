import type { SignedHead } from '../domain/audit/audit-record.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { parseRecord } from '../domain/audit/record-bytes.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { isInLane } from './same-lane.ts';
import { checkStatement, readSignedHeads } from './sign-statement.ts';
import type { TrustedKeys } from './signing-keys.ts';
import type { StatementSigner } from './statement-signer.ts';
import { parseNumbered } from './statement-links.ts';
import { hex } from './walk-lane.ts';
import { walkStatements } from './walk-statements.ts';

/** The heads that a process signed last, and the number of the statement that contains them. */
export interface LastSigned {
  readonly heads: readonly SignedHead[];
  readonly number: number;
}

const NOTHING_SIGNED: LastSigned = { heads: [], number: 0 };

/**
 * Signs the current heads of all chains, unless nothing was added since this process last signed. Returns the current heads.
 *
 * @param readKeys returns the keys whose rollbacks and gaps are trusted. Without trusted keys, a chain that differs from the last signed
 * one is always refused.
 */
export async function signHeads(
  trail: AuditTrail,
  signer: StatementSigner,
  at: number,
  last: LastSigned = NOTHING_SIGNED,
  readKeys: () => TrustedKeys = () => new Map(),
): Promise<LastSigned> {
  const started = await signer.startChain(trail, at);
  if (started !== undefined) return { heads: started.heads, number: started.number };
  await refuseChanged(trail, last, readKeys);
  const heads = await readSignedHeads(trail);
  if (heads.length === 0 || canonicalJson(heads) === canonicalJson(last.heads)) return { ...last, heads };
  let { number } = last;
  await signer.sign(
    trail,
    () => ({ kind: 'heads', at, heads }),
    (statement) => {
      ({ number } = statement);
      return trail.addStatement(statement);
    },
  );
  return { heads, number };
}

/**
 * Throws if a writer of the sink has rewritten a chain. `verify` would find that in any case, but a signature over the new chain would make
 * it later.
 */
async function refuseChanged(trail: AuditTrail, last: LastSigned, readKeys: () => TrustedKeys): Promise<void> {
  for (const head of last.heads) {
    const { store, lane, sequence, chain } = head;
    const [found] = await trail.readTrail({ store, lane, fromSequence: sequence, limit: 1 });
    // If the record is not found, retention has deleted it together with everything before it, and there is nothing to compare.
    if (found === undefined || parseRecord(found.text)?.sequence !== sequence || hex(found.chain) === chain) continue;
    if (await isGivenUp(trail, head, last.number, readKeys())) continue;
    throw planeError('AUDIT_CHAIN_CHANGED', { lane, sequence });
  }
}

/**
 * Whether an operator has signed, after this head, a rollback that gives up the head's statement, or a gap that begins at or before its
 * record.
 */
async function isGivenUp(trail: AuditTrail, head: SignedHead, number: number, keys: TrustedKeys): Promise<boolean> {
  for await (const signed of walkStatements(trail, number)) {
    const kind = parseNumbered(signed.text)?.kind;
    if (kind !== 'rollback' && kind !== 'gap') continue;
    const checked = checkStatement(signed, keys);
    if (checked.kind === 'bad') continue;
    const { statement } = checked;
    if (statement.kind === 'rollback' && statement.after < number) return true;
    if (statement.kind === 'gap' && isInLane(head)(statement) && statement.from <= head.sequence) return true;
  }
  return false;
}
