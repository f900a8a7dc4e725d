import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, copyFileSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import type { Store } from '../../domain/ports/store.ts';
import { invalid, readBackup, type BackupManifest, type LaneFacts } from '../backup/manifest.ts';
import { syncFile, writeBackup } from '../backup/write-backup.ts';
import { Database, openingError } from '../sqlite/database.ts';
import { openEmbeddedStore, type EmbeddedStoreOptions } from './embedded-store.ts';
import { openInProcess } from './in-process-store.ts';
import { readPlaneAddress, storeFile, takeOwnership } from './ownership.ts';
import {
  closeStoreFile,
  isMarkedRestored,
  markRestored,
  openStoreFile,
  SCHEMA_VERSION,
  schemaVersionOf,
} from './schema.ts';

import { isStoreEmpty, setLogsAside, tracesOfStore } from './store-traces.ts';

const COPY_FILE = 'store.sqlite';

export interface EmbeddedBackupOptions {
  readonly folder: string;
  readonly release: string;
  readonly onProgress: (text: string) => void;
}

/**
 * Makes a backup. The owner copies the file between its commits, so no process waits for the copy. The copy is the complete state after one commit.
 */
export async function backupEmbeddedStore(
  store: EmbeddedStoreOptions,
  options: EmbeddedBackupOptions,
): Promise<BackupManifest> {
  return writeBackup(options.folder, async (draft) => {
    const path = join(draft.folder, COPY_FILE);
    options.onProgress('copying');
    const opened = await openEmbeddedStore(store);
    try {
      await opened.copyTo(path);
    } finally {
      await opened.close();
    }
    options.onProgress('checking the copy');
    const { incarnation, schema, lane } = inspectCopy(path, draft.folder);
    const madeAt = new Date().toISOString();
    const { release } = options;
    return { store: 'embedded', release, madeAt, incarnation, schema, lanes: [lane], files: [{ name: COPY_FILE }] };
  });
}

/** Checks the copy, and leaves it as a single file. The copy has the owner's WAL mode, in which SQLite would make a log next to it. */
function inspectCopy(path: string, folder: string): { incarnation: string; schema: string; lane: LaneFacts } {
  const database = new Database(path, 0);
  try {
    database.execute('PRAGMA journal_mode = DELETE');
    const [verdict] = database.all<{ integrity_check: string }>('PRAGMA integrity_check(1)');
    if (verdict?.integrity_check !== 'ok') throw invalid(folder, `the file is damaged: ${verdict?.integrity_check}`);
    const incarnation = database.get<{ id: string }>('SELECT id FROM incarnation')?.id;
    if (incarnation === undefined) throw invalid(folder, 'the file has no incarnation');
    return { incarnation, schema: String(schemaVersionOf(database)), lane: factsOf(database) };
  } finally {
    database.close();
  }
}

function factsOf(database: Database): LaneFacts {
  const lane = database.get<{ auditSequence: number }>('SELECT auditSequence FROM lane');
  const live = database.get<{ calls: number }>("SELECT count(*) AS calls FROM call WHERE state <> 'settled'");
  return { lane: 0, auditSequence: lane?.auditSequence ?? 0, liveCalls: live?.calls ?? 0 };
}

export interface EmbeddedRestoreOptions {
  /** Folder of the backup. */
  readonly folder: string;
  readonly onProgress: (text: string) => void;
}

/** Puts the copy into a folder without a store. The copy has a mark that prevents every process from opening it until an operator adopts it. */
export async function restoreEmbeddedStore(store: string, options: EmbeddedRestoreOptions): Promise<BackupManifest> {
  const manifest = await readBackup(options.folder, 'embedded', options.onProgress);
  if (Number(manifest.schema) > SCHEMA_VERSION) {
    throw planeError('STORE_VERSION', { found: manifest.schema, known: String(SCHEMA_VERSION) });
  }
  return whileOwner(store, async () => {
    const place = storeFile(store);
    if (!isStoreEmpty(store)) throw planeError('STORE_NOT_EMPTY', { place: store });
    const draft = `${place}.restoring`;
    rmSync(draft, { force: true });
    options.onProgress('copying');
    copyFileSync(join(options.folder, COPY_FILE), draft);
    chmodSync(draft, 0o600);
    const { incarnation, lane } = inspectCopy(draft, options.folder);
    const [wanted] = manifest.lanes;
    const isSame = lane.auditSequence === wanted?.auditSequence && lane.liveCalls === wanted.liveCalls;
    if (incarnation !== manifest.incarnation || !isSame)
      throw invalid(options.folder, 'the file is not the one the manifest describes');
    const database = new Database(draft, 0);
    try {
      markRestored(database, true);
    } finally {
      database.close();
    }
    syncFile(draft);
    setLogsAside(store);
    renameSync(draft, place);
    syncFile(store);
    return manifest;
  });
}

export interface EmbeddedAdoption {
  readonly kind: 'empty' | 'older' | 'whole';
  readonly findings: readonly string[];
  readonly liveCalls: number;
}

export function inspectEmbeddedAdoption(folder: string): Promise<EmbeddedAdoption> {
  return whileOwner(folder, async () => {
    const path = storeFile(folder);
    if (isStoreEmpty(folder)) return { kind: 'empty', findings: findingsOfNone(folder), liveCalls: 0 };
    const database = new Database(path, 0);
    try {
      const tables = database.get<{ found: number }>('SELECT count(*) AS found FROM sqlite_schema')?.found ?? 0;
      if (tables === 0) return { kind: 'empty', findings: findingsOfNone(folder), liveCalls: 0 };
      const restored = isMarkedRestored(database);
      const { liveCalls } = factsOf(database);
      return restored
        ? { kind: 'older', findings: ['it was restored from a backup'], liveCalls }
        : { kind: 'whole', findings: [], liveCalls };
    } catch (error) {
      throw openingError(path, error);
    } finally {
      database.close();
    }
  });
}

/** Describes a folder without a store: whether there was one before. */
function findingsOfNone(folder: string): string[] {
  const traces = tracesOfStore(folder);
  if (traces.length === 0) return [`there is no store in ${folder}`];
  return [`${storeFile(folder)} is missing or holds nothing, and the folder has ${traces.join(', ')}`];
}

/** Creates an empty store where one was lost, for an operator who asked for it. Throws if the folder never had a store. */
export function makeStoreAnew(folder: string): Promise<void> {
  return whileOwner(folder, async () => {
    if (tracesOfStore(folder).length === 0) {
      throw planeError('STORE_UNAVAILABLE', { problem: `there is no store in ${folder}` });
    }
    setLogsAside(folder);
    closeSync(openSync(storeFile(folder), 'a', 0o600));
    closeStoreFile(openStoreFile(storeFile(folder)));
  });
}

/**
 * Gives the store a new incarnation, as `adoptRedisStore` does: `meanwhile` gets the store before any other process can open it. The last
 * step writes the new incarnation and removes the mark of a restored file, in one transaction.
 */
export function adoptEmbeddedStore<Result>(
  folder: string,
  meanwhile: (store: Store) => Promise<Result>,
): Promise<{ readonly incarnation: string; readonly result: Result }> {
  return whileOwner(folder, async () => {
    const path = storeFile(folder);
    const file = openStoreFile(path, { restored: true });
    try {
      const store = openInProcess(path, file);
      const result = await meanwhile(store);
      await store.close();
      const incarnation = randomUUID();
      const { database } = file;
      database.begin();
      database.run('UPDATE incarnation SET id = ?', incarnation);
      // The audit of a new incarnation is a new chain, which begins with record 1.
      database.run('UPDATE lane SET epoch = epoch + 1, auditSequence = 0');
      markRestored(database, false);
      database.commit();
      return { incarnation, result };
    } finally {
      closeStoreFile(file);
    }
  });
}

async function whileOwner<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const ownership = takeOwnership(folder);
  if (ownership === undefined) {
    throw planeError('STORE_OWNED', { file: storeFile(folder), pid: readPlaneAddress(folder)?.pid ?? 0 });
  }
  try {
    return await work();
  } finally {
    ownership.release();
  }
}
