import type { StatementSync } from 'node:sqlite';
import { planeError, PlaneError } from '../../domain/errors/errors.ts';
import { nodeSqlite, type Connection } from './node-sqlite.ts';

export type SqlValue = null | number | string | Uint8Array;

/** An empty array that has memory of its own. See `bindable`. */
const EMPTY_BLOB = new Uint8Array(1).subarray(0, 0);

/** Pages that one step of a copy reads: half a megabyte. A commit waits for at most one step. */
const PAGES_PER_STEP = 128;
const MAX_COPY_ATTEMPTS = 20;

/** One SQLite connection with its prepared statements. */
export class Database {
  readonly #connection: Connection;
  readonly #statements = new Map<string, StatementSync>();
  readonly #writes = new Map<string, StatementSync>();
  /** True if rows were changed since `begin`. */
  #changed = false;
  /** True while the log still contains erased data. */
  #logHoldsErased = false;

  constructor(file: string, busyTimeoutMs: number) {
    const { DatabaseSync } = nodeSqlite();
    this.#connection = new DatabaseSync(file, { timeout: busyTimeoutMs });
    // Overwrites deleted data where that needs no additional write: in pages that are written anyway.
    this.#connection.exec('PRAGMA secure_delete = FAST');
  }

  run(sql: string, ...values: SqlValue[]): number {
    const changes = Number(this.#prepareWrite(sql).run(...bindable(values)).changes);
    if (changes > 0) this.#changed = true;
    return changes;
  }

  /** Returns the number of the new row. */
  insert(sql: string, ...values: SqlValue[]): number {
    this.#changed = true;
    return Number(this.#prepareWrite(sql).run(...bindable(values)).lastInsertRowid);
  }

  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined {
    return this.#prepare(sql).get(...bindable(values)) as Row | undefined;
  }

  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    return this.#prepare(sql).all(...bindable(values)) as Row[];
  }

  /** For statements without values that need no cache: schema and pragmas. */
  execute(sql: string): void {
    this.#connection.exec(sql);
  }

  /** Copies the committed data, in steps between the writes. Pages that change meanwhile are copied again. */
  async copyTo(file: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await nodeSqlite().backup(this.#connection, file, { rate: PAGES_PER_STEP });
        return;
      } catch (error) {
        // node:sqlite sometimes (seen on Node 24 and 26) ends a copy under writes with code 0, "not an error". Another attempt overwrites
        // what the first one has written.
        if (resultCode(error) !== NO_ERROR || attempt === MAX_COPY_ATTEMPTS) throw error;
      }
    }
  }

  get changed(): boolean {
    return this.#changed;
  }

  begin(): void {
    this.#changed = false;
    this.#prepareWrite('BEGIN IMMEDIATE').run();
  }

  commit(): void {
    this.#prepareWrite('COMMIT').run();
  }

  /** While `work` runs, all data that it deletes is overwritten in the file, including pages that become free. */
  overwriting<Result>(work: () => Result): Result {
    this.#connection.exec('PRAGMA secure_delete = ON');
    try {
      return work();
    } finally {
      this.#connection.exec('PRAGMA secure_delete = FAST');
    }
  }

  /** To be called in a transaction that erases data: the data must not stay in the log either, so `emptyLog` must follow the commit. */
  eraseFromLog(): void {
    this.#logHoldsErased = true;
  }

  /**
   * To be called after a commit: empties the log if it may contain erased data. Returns false if another connection or a running copy prevents it;
   * the next commit tries again.
   */
  emptyLog(): boolean {
    if (!this.#logHoldsErased) return true;
    try {
      const done = this.#prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number };
      this.#logHoldsErased = done.busy !== 0;
    } catch {
      // The transaction is committed. If the disk fails here, the next commit fails too.
    }
    return !this.#logHoldsErased;
  }

  /** Rolls back, if there is still a transaction: after some errors, such as a full disk, SQLite has already rolled back by itself. */
  rollback(): void {
    if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
  }

  close(): void {
    this.#statements.clear();
    this.#writes.clear();
    this.#connection.close();
  }

  /**
   * A statement whose `run` reports big integers. Each `run` reports the last row number of the connection, and full-text search writes rows
   * with numbers above 2^53 into tables of its own. Node 26 throws when it has to report such a number as an ordinary one.
   */
  #prepareWrite(sql: string): StatementSync {
    let statement = this.#writes.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      statement.setReadBigInts(true);
      this.#writes.set(sql, statement);
    }
    return statement;
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

/**
 * Replaces empty arrays in the list: Node 22 binds an empty array that has no memory of its own as NULL. An empty array that came from
 * another thread has none.
 */
function bindable(values: SqlValue[]): SqlValue[] {
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (value instanceof Uint8Array && value.byteLength === 0) values[at] = EMPTY_BLOB;
  }
  return values;
}

const NO_ERROR = 0;
const BUSY = 5;
const FULL = 13;
/** READONLY, IOERR, CORRUPT, CANTOPEN, NOTADB: what was read or written can no longer be trusted. */
const FATAL: readonly number[] = [8, 10, 11, 14, 26];

/** Returns the primary result code of SQLite; undefined for errors that are not from SQLite. */
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

/**
 * True for errors after which the store must stop. After such an error nothing can be retried: a second fsync reports success without
 * having written anything.
 */
export function isFatal(error: unknown): boolean {
  const code = resultCode(error);
  return code !== undefined && FATAL.includes(code);
}

const ERROR = 1;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** Converts an error from opening a file. A missing table or column counts as damage too, because all migrations have run by then. */
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
