import { sign, verify } from 'node:crypto';
import type { AuditHead, AuditStatement, SignedStatement } from '../domain/audit-record.ts';
import { toSignedHead } from '../wire/audit-record.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import type { SigningKey, TrustedKeys } from './signing-keys.ts';

/** Says what the signature is for: it cannot be taken for one over anything else. */
const CONTEXT = 'sallyport audit statement 1\n';

export function signStatement(statement: AuditStatement, key: SigningKey): SignedStatement {
  const text = canonicalJson(statement);
  return { text, keyId: key.id, signature: sign(null, Buffer.from(CONTEXT + text), key.privateKey) };
}

export type CheckedStatement =
  | { readonly kind: 'good'; readonly statement: AuditStatement }
  | { readonly kind: 'bad'; readonly problem: string };

export function checkStatement({ text, keyId, signature }: SignedStatement, keys: TrustedKeys): CheckedStatement {
  const key = keys.get(keyId);
  if (key === undefined)
    return { kind: 'bad', problem: `it is signed by key ${keyId}, which is not among the trusted ones` };
  if (!verify(null, Buffer.from(CONTEXT + text), key, signature)) {
    return { kind: 'bad', problem: `its signature by key ${keyId} is wrong` };
  }
  return { kind: 'good', statement: JSON.parse(text) as AuditStatement };
}

/** Signs how long all chains are, unless nothing was added since. Returns what was signed. */
export async function signHeads(trail: AuditTrail, key: SigningKey, at: number, last?: string): Promise<string> {
  const heads = (await trail.auditHeads()).filter(({ sequence }) => sequence > 0).map(toSignedHead);
  const signed = canonicalJson(heads);
  if (heads.length === 0 || signed === last) return signed;
  await trail.addStatement(signStatement({ kind: 'heads', at, heads }, key));
  return signed;
}

/** Deletes what a subject's records say in words and arguments. That they were there, and everything else about them, stays. */
export async function eraseSubject(
  trail: AuditTrail,
  key: SigningKey,
  { tenant, subject, at }: { readonly tenant: string; readonly subject: string; readonly at: number },
): Promise<number> {
  const heads = (await trail.auditHeads()).filter(isBegun).map(toSignedHead);
  const statement = signStatement({ kind: 'erasure', at, tenant, subject, heads }, key);
  return trail.erasePayloads({ tenant, subject, heads, statement });
}

const isBegun = ({ sequence }: AuditHead): boolean => sequence > 0;
