import type {
  AuditStatement,
  DroppedStatements,
  ForeignStatement,
  GapStatement,
  PlacedStatement,
  SignedHead,
} from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import { checkStatement } from './sign-statement.ts';
import { statementHash } from './statement-links.ts';
import type { TrustedKeys } from './signing-keys.ts';

export interface Statements {
  readonly count: number;
  /** Of all times, in order. */
  readonly heads: readonly SignedHead[];
  readonly cuts: readonly SignedHead[];
  readonly erasures: readonly Extract<AuditStatement, { kind: 'erasure' }>[];
  readonly rollbacks: readonly ReadRollback[];
  /** All of them in their order, as far as the chain needs them. */
  readonly links: readonly ReadLink[];
  /** What the last cut that dropped statements says about them. */
  readonly dropped?: DroppedStatements;
  /** Store time of the last statement. */
  readonly lastAt?: number;
  readonly gaps: readonly GapStatement[];
  readonly foreign: readonly ForeignStatement[];
}

/** A statement as a link of the chain. */
export interface ReadLink {
  /** The number of its row. The signed text has one too, except in statements of an older release. */
  readonly number: number;
  readonly signedNumber: number | undefined;
  readonly previous: string | undefined;
  readonly hash: string;
  readonly kind: AuditStatement['kind'];
  /** The statement that a rollback follows. */
  readonly after: number | undefined;
}

export type ReadRollback = Extract<AuditStatement, { kind: 'rollback' }> & { readonly number: number };

type Read =
  | { readonly kind: 'good'; readonly statements: Statements }
  | { readonly kind: 'bad'; readonly count: number; readonly problem: string };

const AT_ONCE = 500;

const MAX_TRIES = 5;

/** All that was signed. One statement that cannot be checked is one too many. */
export async function readStatements(trail: AuditTrail, keys: TrustedKeys): Promise<Read> {
  for (let tries = 1; ; tries += 1) {
    const first = await readFirst(trail);
    const read = await readOnce(trail, keys);
    // Old ones are dropped when records are cut; then pages that were not read yet have lost some.
    if (tries === MAX_TRIES || (await readFirst(trail)) === first) return read;
  }
}

async function readFirst(trail: AuditTrail): Promise<string | undefined> {
  return (await trail.listStatements({ limit: 1 }))[0]?.text;
}

async function readOnce(trail: AuditTrail, keys: TrustedKeys): Promise<Read> {
  const heads: SignedHead[] = [];
  const cuts: SignedHead[] = [];
  const erasures: Extract<AuditStatement, { kind: 'erasure' }>[] = [];
  const rollbacks: ReadRollback[] = [];
  const gaps: GapStatement[] = [];
  const foreign: ForeignStatement[] = [];
  const links: ReadLink[] = [];
  let dropped: DroppedStatements | undefined;
  let lastAt: number | undefined;
  for (let after: number | undefined; ; after = links.at(-1)?.number) {
    const page = await trail.listStatements({ ...(after === undefined ? {} : { after }), limit: AT_ONCE });
    for (const signed of page) {
      const checked = checkStatement(signed, keys);
      if (checked.kind === 'bad') {
        return { kind: 'bad', count: links.length, problem: `signed statement ${signed.number}: ${checked.problem}` };
      }
      const { statement } = checked;
      links.push(toLink(signed, statement));
      lastAt = statement.at;
      if ('heads' in statement) heads.push(...statement.heads);
      if (statement.kind === 'erasure') erasures.push(statement);
      else if (statement.kind === 'rollback') rollbacks.push({ ...statement, number: signed.number });
      else if (statement.kind === 'gap') gaps.push(statement);
      else if (statement.kind === 'foreign') foreign.push(statement);
      else if (statement.kind === 'cut') {
        cuts.push(statement.cut);
        dropped = statement.dropped ?? dropped;
      }
    }
    if (page.length < AT_ONCE) break;
  }
  const found = { ...(dropped === undefined ? {} : { dropped }), ...(lastAt === undefined ? {} : { lastAt }) };
  return {
    kind: 'good',
    statements: { count: links.length, heads, cuts, erasures, rollbacks, gaps, foreign, links, ...found },
  };
}

function toLink(signed: PlacedStatement, statement: AuditStatement & { number?: number; previous?: string }): ReadLink {
  return {
    number: signed.number,
    signedNumber: statement.number,
    previous: statement.previous,
    hash: statementHash(signed),
    kind: statement.kind,
    after: statement.kind === 'rollback' ? statement.after : undefined,
  };
}
