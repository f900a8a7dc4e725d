import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { readSignedHeads } from './sign-statement.ts';
import type { StatementSigner } from './statement-signer.ts';

/**
 * Erases the payloads of a subject's records: texts and arguments. The records and their other fields stay. Returns how many payloads were
 * erased.
 */
export async function eraseSubject(
  trail: AuditTrail,
  signer: StatementSigner,
  { tenant, subject, at }: { readonly tenant: string; readonly subject: string; readonly at: number },
): Promise<number> {
  const heads = await readSignedHeads(trail);
  const erased = await signer.sign(
    trail,
    () => ({ kind: 'erasure', at, tenant, subject, heads }),
    (statement) => trail.erasePayloads({ tenant, subject, heads, statement }),
  );
  return erased ?? 0;
}
