import type { AuditTrail } from '../ports/audit-store.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import { readSignedHeads } from './sign-statement.ts';
import type { StatementSigner } from './statement-signer.ts';

/** Signs how long all chains are, unless nothing was added since. Returns what was signed. */
export async function signHeads(
  trail: AuditTrail,
  signer: StatementSigner,
  at: number,
  last?: string,
): Promise<string> {
  const started = await signer.startChain(trail, at);
  if (started !== undefined) return canonicalJson(started.heads);
  const heads = await readSignedHeads(trail);
  const signed = canonicalJson(heads);
  if (heads.length === 0 || signed === last) return signed;
  await signer.sign(trail, () => ({ kind: 'heads', at, heads }));
  return signed;
}
