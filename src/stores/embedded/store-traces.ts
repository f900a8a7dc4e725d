import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { storeFile } from './ownership.ts';

/** Contains the incarnation of the store in this folder. Written when a store is opened, never deleted. */
const ID_FILE = 'store.id';
/** Files that SQLite keeps next to the store's file while it is open, or after a kill. */
const LOGS = ['store.sqlite-wal', 'store.sqlite-journal', 'store.sqlite-shm'];
/** Files that are made only after a store was opened in the folder. A store of an earlier release has no id file, but it can have these. */
const MADE_LATER = [
  'plane.json',
  'redaction.key',
  join('audit-keys', 'signing.pem'),
  join('audit-keys', 'last-statement.json'),
];

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

/** Returns the files that show that there was a store in this folder. Call this before any of them is deleted. */
export function tracesOfStore(folder: string): string[] {
  const logs = LOGS.filter((name) => (sizeOf(join(folder, name)) ?? 0) > 0);
  return [...[ID_FILE, ...MADE_LATER].filter((name) => existsSync(join(folder, name))), ...logs];
}

/** True if the file is missing or empty. */
export function isStoreEmpty(folder: string): boolean {
  return (sizeOf(storeFile(folder)) ?? 0) === 0;
}

/**
 * A file that was deleted or emptied must not become a new store: it would have no policy, no revocations, and an audit that looks complete. Throws
 * STORE_LOST if the folder has no store, but traces of one.
 */
export function refuseLostStore(folder: string, traces: readonly string[] = tracesOfStore(folder)): void {
  if (traces.length > 0 && isStoreEmpty(folder)) throw lostStore(folder, traces);
}

export function lostStore(folder: string, traces: readonly string[]): Error {
  const file = storeFile(folder);
  const size = sizeOf(file);
  const found = size === undefined ? 'is missing' : size === 0 ? 'is empty' : 'has no tables';
  return planeError('STORE_LOST', { file, found, traces: [...traces] });
}

/** Only the owner calls this. */
export function writeStoreId(folder: string, incarnation: string): void {
  const path = join(folder, ID_FILE);
  try {
    if (readFileSync(path, 'utf8').trim() === incarnation) return;
  } catch {
    // The file does not exist yet.
  }
  const draft = `${path}.${randomId()}`;
  writeFileSync(draft, `${incarnation}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, path);
}

/**
 * Makes room for a new file where the store was lost. The old logs are kept under other names: SQLite would replay them into any file that has the
 * name of the one they belonged to.
 */
export function setLogsAside(folder: string): void {
  const mark = randomId().slice(0, 8);
  rmSync(storeFile(folder), { force: true });
  for (const name of LOGS) {
    const path = join(folder, name);
    if (existsSync(path)) renameSync(path, `${path}.lost-${mark}`);
  }
}
