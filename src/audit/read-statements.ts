import type {
  AuditStatement,
  DroppedStatements,
  ForeignStatement,
  GapStatement,
  PlacedStatement,
  SignedHead,
} from '../domain/audit/audit-record.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import { checkStatement } from './sign-statement.ts';
import { statementHash } from './statement-links.ts';
import type { TrustedKeys } from './signing-keys.ts';
import { walkStatements } from './walk-statements.ts';

export interface Statements {
  readonly count: number;
  /** All heads that were ever signed, in order. If several statements contain the same head, it is listed once. */
  readonly heads: readonly SignedHead[];
  readonly cuts: readonly SignedHead[];
  readonly erasures: readonly Extract<AuditStatement, { kind: 'erasure' }>[];
  readonly rollbacks: readonly ReadRollback[];
  /** All statements in their order, as links of the chain. */
  readonly links: readonly ReadLink[];
  /**
   * The dropped statements, as listed by the last cut that dropped any: up to which number, the chain's hash there, and which were kept.
   */
  readonly dropped?: DroppedStatements;
  /** Store time of the last statement. */
  readonly lastAt?: number;
  readonly gaps: readonly GapStatement[];
  readonly foreign: readonly ForeignStatement[];
}

/** A statement as a link of the chain. */
export interface ReadLink {
  /** Number of the statement's row. The signed text contains it too, except in statements of an older release. */
  readonly number: number;
  readonly signedNumber: number | undefined;
  readonly previous: string | undefined;
  readonly hash: string;
  readonly statement: AuditStatement;
  /** For a rollback: the number of the statement before it. The numbers in between are given up. */
  readonly after: number | undefined;
}

export type ReadRollback = Extract<AuditStatement, { kind: 'rollback' }> & { readonly number: number };

type Read =
  | { readonly kind: 'good'; readonly statements: Statements }
  | { readonly kind: 'bad'; readonly count: number; readonly problem: string };

/** Reads and checks all signed statements. If one of them cannot be checked, the result is `bad`. */
export async function readStatements(trail: AuditTrail, keys: TrustedKeys): Promise<Read> {
  const collected = collectStatements();
  for await (const signed of walkStatements(trail)) {
    const checked = checkStatement(signed, keys);
    if (checked.kind === 'bad') {
      const problem = `signed statement ${signed.number}: ${checked.problem}`;
      return { kind: 'bad', count: collected.statements.count, problem };
    }
    collected.add(toLink(signed, checked.statement));
  }
  return { kind: 'good', statements: collected.statements };
}

export interface CollectedStatements {
  readonly statements: Statements;
  add(link: ReadLink): void;
}

/** Collects checked statements by kind. A head that equals the one in the statement before is stored as the same object, to save memory. */
export function collectStatements(): CollectedStatements {
  const heads: SignedHead[] = [];
  const cuts: SignedHead[] = [];
  const erasures: Extract<AuditStatement, { kind: 'erasure' }>[] = [];
  const rollbacks: ReadRollback[] = [];
  const gaps: GapStatement[] = [];
  const foreign: ForeignStatement[] = [];
  const links: ReadLink[] = [];
  const lastHeads = new Map<string, SignedHead>();
  let dropped: DroppedStatements | undefined;
  let lastAt: number | undefined;

  function share(head: SignedHead): SignedHead {
    const place = `${head.lane} ${head.store}`;
    const last = lastHeads.get(place);
    if (last?.sequence === head.sequence && last.chain === head.chain) return last;
    lastHeads.set(place, head);
    heads.push(head);
    return head;
  }

  return {
    get statements() {
      const found = { ...(dropped === undefined ? {} : { dropped }), ...(lastAt === undefined ? {} : { lastAt }) };
      return { count: links.length, heads, cuts, erasures, rollbacks, gaps, foreign, links, ...found };
    },
    add(link) {
      const said = link.statement;
      const statement = 'heads' in said ? { ...said, heads: said.heads.map(share) } : said;
      links.push({ ...link, statement });
      lastAt = statement.at;
      if (statement.kind === 'erasure') erasures.push(statement);
      else if (statement.kind === 'rollback') rollbacks.push({ ...statement, number: link.number });
      else if (statement.kind === 'gap') gaps.push(statement);
      else if (statement.kind === 'foreign') foreign.push(statement);
      else if (statement.kind === 'cut') {
        cuts.push(statement.cut);
        dropped = statement.dropped ?? dropped;
      }
    },
  };
}

export function toLink(
  signed: PlacedStatement,
  statement: AuditStatement & { number?: number; previous?: string },
): ReadLink {
  return {
    number: signed.number,
    signedNumber: statement.number,
    previous: statement.previous,
    hash: statementHash(signed),
    statement,
    after: statement.kind === 'rollback' ? statement.after : undefined,
  };
}
