import type { SubjectShare } from '../../domain/call/subject-share.ts';
import type { Database } from '../sqlite/database.ts';

export type SubjectUse = Readonly<Record<SubjectShare, number>>;

const NOTHING: SubjectUse = Object.freeze({ liveBytes: 0, parkedBytes: 0, retainedBytes: 0, pendingApprovals: 0 });
/**
 * When the sums of more subjects than this are in memory, all are dropped and read again when needed. So memory does not grow with the number of
 * subjects.
 */
const MAX_REMEMBERED = 10_000;

/**
 * What each subject uses, by scope. Live calls are counted when the file is opened. Kept outcomes are too many for that, so their sum has a row per
 * subject, which is deleted when the sum is 0. Like the lane's counters, the numbers include the changes of the current transaction.
 */
export class SubjectUses {
  readonly #database: Database;
  #live = new Map<string, Omit<SubjectUse, 'retainedBytes'>>();
  readonly #retained = new Map<string, number>();
  readonly #dirty = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Reads everything again: after opening, and after a rollback. */
  load(): void {
    this.#retained.clear();
    this.#dirty.clear();
    const rows = this.#database.all<Omit<SubjectUse, 'retainedBytes'> & { readonly scope: string }>(
      `SELECT scope, sum(bytes) AS liveBytes, sum(iif(state = 'parked', bytes, 0)) AS parkedBytes,
         sum(state = 'parked') AS pendingApprovals
       FROM call INDEXED BY callDeadline WHERE state <> 'settled' GROUP BY scope`,
    );
    this.#live = new Map(rows.map(({ scope, ...use }) => [scope, use]));
  }

  /** Writes changed sums, before the commit. */
  flush(): void {
    for (const scope of this.#dirty) {
      const bytes = this.#retained.get(scope) ?? 0;
      if (bytes > 0) {
        this.#database.run(
          'INSERT INTO subjectRetained VALUES (?1, ?2) ON CONFLICT (scope) DO UPDATE SET bytes = ?2',
          scope,
          bytes,
        );
      } else {
        this.#database.run('DELETE FROM subjectRetained WHERE scope = ?', scope);
      }
    }
    this.#dirty.clear();
    if (this.#retained.size > MAX_REMEMBERED) this.#retained.clear();
  }

  of(scope: string): SubjectUse {
    return { ...(this.#live.get(scope) ?? NOTHING), retainedBytes: this.#retainedOf(scope) };
  }

  /** Adds to what the subject uses; numbers may be negative. */
  change(scope: string, change: Partial<SubjectUse>): void {
    const { liveBytes = 0, parkedBytes = 0, pendingApprovals = 0, retainedBytes = 0 } = change;
    if (retainedBytes !== 0) {
      this.#retained.set(scope, Math.max(0, this.#retainedOf(scope) + retainedBytes));
      this.#dirty.add(scope);
    }
    const before = this.#live.get(scope) ?? NOTHING;
    const live = {
      liveBytes: before.liveBytes + liveBytes,
      parkedBytes: before.parkedBytes + parkedBytes,
      pendingApprovals: before.pendingApprovals + pendingApprovals,
    };
    if (live.liveBytes === 0 && live.pendingApprovals === 0) this.#live.delete(scope);
    else this.#live.set(scope, live);
  }

  /** Sum over all subjects. */
  get parkedBytes(): number {
    let sum = 0;
    for (const { parkedBytes } of this.#live.values()) sum += parkedBytes;
    return sum;
  }

  /** Returns for each share the highest use by any single subject. */
  fullest(): SubjectUse {
    const max = { ...NOTHING };
    for (const use of this.#live.values()) {
      for (const share of ['liveBytes', 'parkedBytes', 'pendingApprovals'] as const) {
        max[share] = Math.max(max[share], use[share]);
      }
    }
    const kept = this.#database.get<{ bytes: number | null }>('SELECT max(bytes) AS bytes FROM subjectRetained');
    return { ...max, retainedBytes: kept?.bytes ?? 0 };
  }

  #retainedOf(scope: string): number {
    const known = this.#retained.get(scope);
    if (known !== undefined) return known;
    const row = this.#database.get<{ bytes: number }>('SELECT bytes FROM subjectRetained WHERE scope = ?', scope);
    this.#retained.set(scope, row?.bytes ?? 0);
    return row?.bytes ?? 0;
  }
}

/** Returns the scope of a call's key, which is `<lane>.<scope>.<rest>`. */
export function scopeOfKey(keyId: string): string {
  const start = keyId.indexOf('.') + 1;
  return keyId.slice(start, keyId.indexOf('.', start));
}
