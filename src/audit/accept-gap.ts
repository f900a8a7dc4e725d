import type { GapStatement } from '../domain/audit/audit-record.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { AuditState, AuditTrail } from '../domain/ports/audit-store.ts';
import type { StatementSigner } from './statement-signer.ts';

/**
 * Signs that an operator gives up the records that the drain found missing. The range is always the one that the drain found, never one
 * that the caller names. The drain then continues after exactly that range.
 */
export async function acceptGap(
  trail: AuditTrail,
  signer: StatementSigner,
  lane: number,
  { store, gap, now: at }: Pick<AuditState, 'store' | 'gap' | 'now'>,
  word: { readonly reason: string; readonly by: string },
): Promise<GapStatement> {
  if (gap === undefined) throw planeError('AUDIT_NO_GAP', { lane });
  const statement: GapStatement = { kind: 'gap', at, store, lane, ...gap, ...word };
  await signer.sign(trail, () => statement);
  return statement;
}
