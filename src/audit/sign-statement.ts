import { sign, verify } from 'node:crypto';
import type {
  AuditHead,
  AuditStatement,
  NumberedText,
  SignedHead,
  SignedStatement,
} from '../domain/audit/audit-record.ts';
import { toSignedHead } from '../domain/audit/record-bytes.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import type { SigningKey, TrustedKeys } from './signing-keys.ts';

/** States the purpose of the signature, so that it cannot be used as a signature over anything else. */
const CONTEXT = 'sallyport audit statement 1\n';

/** Only makes the signature. `StatementSigner` adds the statement to the chain. */
export function signText(statement: NumberedText, key: SigningKey): SignedStatement {
  const text = canonicalJson(statement);
  return { text, keyId: key.id, signature: sign(null, Buffer.from(CONTEXT + text), key.privateKey) };
}

export type CheckedStatement =
  | { readonly kind: 'good'; readonly statement: AuditStatement | NumberedText }
  /** `unknownKey`: no trusted key has this id, so the signature cannot be checked. */
  | { readonly kind: 'bad'; readonly problem: string; readonly unknownKey?: string };

export function checkStatement({ text, keyId, signature }: SignedStatement, keys: TrustedKeys): CheckedStatement {
  const key = keys.get(keyId);
  if (key === undefined) {
    const problem = `it is signed by key ${keyId}, which is not among the trusted ones`;
    return { kind: 'bad', problem, unknownKey: keyId };
  }
  if (!verify(null, Buffer.from(CONTEXT + text), key, signature)) {
    return { kind: 'bad', problem: `its signature by key ${keyId} is wrong` };
  }
  return { kind: 'good', statement: JSON.parse(text) as AuditStatement };
}

/** The current heads of the chains of records, in the form that statements use. Lanes without records are left out. */
export async function readSignedHeads(trail: AuditTrail): Promise<SignedHead[]> {
  return (await trail.auditHeads()).filter(isBegun).map(toSignedHead);
}

const isBegun = ({ sequence }: AuditHead): boolean => sequence > 0;
