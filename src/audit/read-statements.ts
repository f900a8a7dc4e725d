import type { AuditStatement, SignedHead } from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { checkStatement } from './sign-statement.ts';
import type { TrustedKeys } from './signing-keys.ts';

export interface Statements {
  readonly count: number;
  /** Of all times, in order. */
  readonly heads: readonly SignedHead[];
  readonly cuts: readonly SignedHead[];
  readonly erasures: readonly Extract<AuditStatement, { kind: 'erasure' }>[];
}

type Read =
  | { readonly kind: 'good'; readonly statements: Statements }
  | { readonly kind: 'bad'; readonly count: number; readonly problem: string };

const AT_ONCE = 500;

const MOST_TRIES = 5;

/** All that was signed. One statement that nobody can check is one too many. */
export async function readStatements(trail: AuditTrail, keys: TrustedKeys): Promise<Read> {
  for (let tries = 1; ; tries += 1) {
    const first = await readFirst(trail);
    const read = await readOnce(trail, keys);
    // Old ones are forgotten when records are cut; then the pages after the first have moved, and some were not seen.
    if (tries === MOST_TRIES || (await readFirst(trail)) === first) return read;
  }
}

async function readFirst(trail: AuditTrail): Promise<string | undefined> {
  return (await trail.listStatements({ from: 0, limit: 1 }))[0]?.text;
}

async function readOnce(trail: AuditTrail, keys: TrustedKeys): Promise<Read> {
  const heads: SignedHead[] = [];
  const cuts: SignedHead[] = [];
  const erasures: Extract<AuditStatement, { kind: 'erasure' }>[] = [];
  let count = 0;
  for (;;) {
    const page = await trail.listStatements({ from: count, limit: AT_ONCE });
    for (const signed of page) {
      count += 1;
      const checked = checkStatement(signed, keys);
      if (checked.kind === 'bad')
        return { kind: 'bad', count, problem: `signed statement ${count}: ${checked.problem}` };
      const { statement } = checked;
      if (statement.kind === 'heads') heads.push(...statement.heads);
      else if (statement.kind === 'cut') cuts.push(statement.cut);
      else if (statement.kind === 'erasure') {
        erasures.push(statement);
        heads.push(...statement.heads);
      }
    }
    if (page.length < AT_ONCE) return { kind: 'good', statements: { count, heads, cuts, erasures } };
  }
}
