import type { SignedHead } from '../domain/audit-record.ts';
import { planeError } from '../domain/errors.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { parseRecord } from '../wire/audit-record.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import { readSignedHeads } from './sign-statement.ts';
import type { StatementSigner } from './statement-signer.ts';
import { hex } from './walk-lane.ts';

/** Signs how long all chains are, unless nothing was added since the heads that this process signed last. Returns those of now. */
export async function signHeads(
  trail: AuditTrail,
  signer: StatementSigner,
  at: number,
  last: readonly SignedHead[] = [],
): Promise<readonly SignedHead[]> {
  const started = await signer.startChain(trail, at);
  if (started !== undefined) return started.heads;
  await refuseChanged(trail, last);
  const heads = await readSignedHeads(trail);
  if (heads.length === 0 || canonicalJson(heads) === canonicalJson(last)) return heads;
  await signer.sign(trail, () => ({ kind: 'heads', at, heads }));
  return heads;
}

/** A writer of the sink has made a chain anew. `verify` finds that in any case; a signature over the new chain would only delay it. */
async function refuseChanged(trail: AuditTrail, last: readonly SignedHead[]): Promise<void> {
  for (const { store, lane, sequence, chain } of last) {
    const [found] = await trail.readTrail({ store, lane, fromSequence: sequence, limit: 1 });
    // Deleted by retention since, together with everything before it.
    if (found === undefined || parseRecord(found.text)?.sequence !== sequence || hex(found.chain) === chain) continue;
    const problem = `record ${sequence} of lane ${lane} is not the one that was signed`;
    throw planeError('AUDIT_WENT_BACK', { problem });
  }
}
