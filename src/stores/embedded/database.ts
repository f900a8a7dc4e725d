import type { StatementSync } from 'node:sqlite';
import { planeError, PlaneError } from '../../domain/errors.ts';
import { nodeSqlite, type Connection } from './node-sqlite.ts';

export type SqlValue = null | number | string | Uint8Array;

/** Half a megabyte: a commit waits for one step at most. */
const PAGES_PER_STEP = 128;

/** One SQLite connection with its prepared statements. */
export class Database {
  readonly #connection: Connection;
  readonly #statements = new Map<string, StatementSync>();
  /** Rows were changed since `begin`. */
  #changed = false;
  /** The log still holds what was erased. */
  #logHoldsErased = false;

  constructor(file: string, busyTimeoutMs: number) {
    const { DatabaseSync } = nodeSqlite();
    this.#connection = new DatabaseSync(file, { timeout: busyTimeoutMs });
    // What is deleted is overwritten in pages that are written anyway.
    this.#connection.exec('PRAGMA secure_delete = FAST');
  }

  run(sql: string, ...values: SqlValue[]): number {
    const changes = Number(this.#prepare(sql).run(...values).changes);
    if (changes > 0) this.#changed = true;
    return changes;
  }

  /** The number that the new row got. */
  insert(sql: string, ...values: SqlValue[]): number {
    this.#changed = true;
    return Number(this.#prepare(sql).run(...values).lastInsertRowid);
  }

  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  /** For statements without values that need no cache: schema and pragmas. */
  execute(sql: string): void {
    this.#connection.exec(sql);
  }

  /** A copy of what is committed, in steps between the writes; pages that change meanwhile are copied again. */
  async copyTo(file: string): Promise<void> {
    await nodeSqlite().backup(this.#connection, file, { rate: PAGES_PER_STEP });
  }

  get changed(): boolean {
    return this.#changed;
  }

  begin(): void {
    this.#changed = false;
    this.#prepare('BEGIN IMMEDIATE').run();
  }

  commit(): void {
    this.#prepare('COMMIT').run();
  }

  /** What `work` deletes is overwritten in the file, in pages that become free too. */
  overwriting<Result>(work: () => Result): Result {
    this.#connection.exec('PRAGMA secure_delete = ON');
    try {
      return work();
    } finally {
      this.#connection.exec('PRAGMA secure_delete = FAST');
    }
  }

  /** What this transaction deletes must not stay in the log either: `emptyLog` follows its commit. */
  eraseFromLog(): void {
    this.#logHoldsErased = true;
  }

  /**
   * After a commit: empties the log if it may hold something that was erased. False: another connection, or a copy that is being made,
   * is in the way; the next commit tries again.
   */
  emptyLog(): boolean {
    if (!this.#logHoldsErased) return true;
    try {
      const done = this.#prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number };
      this.#logHoldsErased = done.busy !== 0;
    } catch {
      // The transaction is committed. A disk that fails here fails the next commit too.
    }
    return !this.#logHoldsErased;
  }

  /** SQLite has already rolled back by itself after some errors, a full disk among them. */
  rollback(): void {
    if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
  }

  close(): void {
    this.#statements.clear();
    this.#connection.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const BUSY = 5;
const FULL = 13;
/** READONLY, IOERR, CORRUPT, CANTOPEN, NOTADB: what was read or written can no longer be believed. */
const FATAL: readonly number[] = [8, 10, 11, 14, 26];

/** The primary result code of SQLite; undefined for errors that are not SQLite's. */
function resultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  return resultCode(error) === BUSY;
}

export function isFull(error: unknown): boolean {
  return resultCode(error) === FULL;
}

/** After such an error the store must stop: a retried fsync reports success without having written anything. */
export function isFatal(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && FATAL.includes(code);
}

const ERROR = 1;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** What went wrong with a file while it was opened. A schema that lacks a table or a column is damage too: migrations are done by then. */
export function openingError(file: string, error: unknown): PlaneError {
  const code = resultCode(error);
  if (error instanceof PlaneError || code === undefined || !(error instanceof Error)) return toPlaneError(error);
  const isDamaged = code === ERROR || code === CORRUPT || code === NOT_A_DATABASE;
  if (isDamaged) return planeError('STORE_DAMAGED', { file, problem: error.message }, error);
  return isFull(error)
    ? toPlaneError(error)
    : planeError('STORE_FAILED', { problem: `${error.message} (${file})` }, error);
}

export function toPlaneError(error: unknown): PlaneError {
  if (error instanceof PlaneError) return error;
  const problem = error instanceof Error ? error.message : String(error);
  if (isFull(error)) return planeError('STORE_FULL', { problem }, error);
  if (resultCode(error) !== undefined) return planeError('STORE_FAILED', { problem }, error);
  return planeError('INTERNAL', { problem }, error);
}
