import { randomUUID } from 'node:crypto';
import { planeError } from '../../domain/errors/errors.ts';
import { Database, openingError } from '../sqlite/database.ts';
import { MIGRATIONS } from './migrations.ts';

/** 'SLPT'. A SQLite file with another id belongs to another program. */
const APPLICATION_ID = 0x534c5054;
/**
 * 'SLPR': the file was restored from a backup and not adopted yet. A release that does not know this id treats it as a file of another
 * program.
 */
const RESTORED_ID = 0x534c5052;
const BUSY_TIMEOUT_MS = 5_000;

export interface StoreFile {
  readonly database: Database;
  readonly incarnation: string;
  readonly lanes: number;
}

/**
 * Opens or creates the store's file. WAL with synchronous=FULL: every commit is on disk before it returns. The lock on the file is held until it is
 * closed, so that no other program writes into it.
 */
export function openStoreFile(file: string, options: OpeningOptions = {}): StoreFile {
  const { restored = false, ifNew } = options;
  const database = openDatabase(file);
  try {
    database.execute('PRAGMA locking_mode = EXCLUSIVE');
    // Checked before the first write, so that a file of another program stays unchanged.
    const version = checkVersion(database, restored, ifNew);
    database.execute(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA cache_size = -65536;
      PRAGMA temp_store = MEMORY;
    `);
    migrate(database, version, restored ? pragma(database, 'application_id') : APPLICATION_ID);
    const found = database.get<{ id: string; lanes: number }>('SELECT id, lanes FROM incarnation');
    if (found === undefined) throw planeError('STORE_FAILED', { problem: `${file} has no incarnation record` });
    return { database, incarnation: found.id, lanes: found.lanes };
  } catch (error) {
    database.close();
    throw openingError(file, error);
  }
}

export interface OpeningOptions {
  /** Allows opening a file that was restored and not adopted. */
  readonly restored?: boolean;
  /** Called before a store is created in a file that has no tables. It may throw. */
  readonly ifNew?: () => void;
}

function openDatabase(file: string): Database {
  try {
    return new Database(file, BUSY_TIMEOUT_MS);
  } catch (error) {
    throw openingError(file, error);
  }
}

/**
 * Closes the file so that it is complete and not locked. SQLite keeps its lock and its log as long as prepared statements exist, which the
 * garbage collector removes later. Leaving WAL mode ends both at once. If that fails, they end with the thread.
 */
export function closeStoreFile({ database }: StoreFile): void {
  try {
    database.execute('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL; SELECT id FROM incarnation;');
  } catch {
    // Earlier commits have reported the failing disk already. The log stays, and SQLite reads it when the file is next opened.
  }
  database.close();
}

function checkVersion(database: Database, restored: boolean, ifNew: OpeningOptions['ifNew']): number {
  const version = pragma(database, 'user_version');
  const tables = database.get<{ found: number }>('SELECT count(*) AS found FROM sqlite_schema')?.found ?? 0;
  const owner = pragma(database, 'application_id');
  if (owner === RESTORED_ID && !restored) {
    throw planeError('STORE_UNADOPTED', { why: 'it was restored from a backup' });
  }
  if (tables === 0) ifNew?.();
  if (tables > 0 && owner !== APPLICATION_ID && owner !== RESTORED_ID) {
    throw planeError('STORE_FAILED', { problem: 'the file belongs to another program' });
  }
  if (version > MIGRATIONS.length) {
    throw planeError('STORE_VERSION', { found: String(version), known: String(MIGRATIONS.length) });
  }
  return version;
}

function migrate(database: Database, version: number, owner: number): void {
  if (version === MIGRATIONS.length) return;
  database.begin();
  try {
    for (const [index, step] of MIGRATIONS.slice(version).entries()) {
      if (typeof step === 'string') database.execute(step);
      else step(database);
      if (version + index === 0) database.run('INSERT INTO incarnation VALUES (?, 1)', randomUUID());
    }
    database.execute(`PRAGMA application_id = ${owner}; PRAGMA user_version = ${MIGRATIONS.length};`);
    database.commit();
  } catch (error) {
    database.rollback();
    throw error;
  }
}

/** Sets or removes the mark that prevents the use of a restored file. */
export function markRestored(database: Database, restored: boolean): void {
  database.execute(`PRAGMA application_id = ${restored ? RESTORED_ID : APPLICATION_ID}`);
}

export function isMarkedRestored(database: Database): boolean {
  return pragma(database, 'application_id') === RESTORED_ID;
}

/** The schema version that this release writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

export function schemaVersionOf(database: Database): number {
  return pragma(database, 'user_version');
}

function pragma(database: Database, name: string): number {
  const row = database.get<Record<string, number>>(`PRAGMA ${name}`);
  return row?.[name] ?? 0;
}
