import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';
import { Database, isBusy } from '../sqlite/database.ts';
import { closeToOthers, refuseUnsafeFolder } from './check-folder.ts';
import { PROTOCOL_VERSION } from './rpc.ts';

/** Where the owner can be reached. The address does not show whether the owner is still alive; the lock does. */
export interface PlaneAddress {
  readonly pid: number;
  readonly socket: string;
  readonly version: number;
}

export const storeFile = (folder: string): string => join(folder, 'store.sqlite');
const lockFile = (folder: string): string => join(folder, 'owner.sqlite');
const planeFile = (folder: string): string => join(folder, 'plane.json');

/** Codes of the system for a file or folder that this user may not write. */
const READ_ONLY: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM']);

/**
 * Throws STORE_READ_ONLY if the folder or one of the store's files cannot be written. Checked before SQLite opens the files, because
 * SQLite's own messages do not name the cause.
 */
export function refuseReadOnly(folder: string, access: (path: string, mode: number) => void = accessSync): void {
  const file = storeFile(folder);
  for (const path of [folder, lockFile(folder), file, `${file}-wal`]) {
    try {
      access(path, constants.R_OK | constants.W_OK | (path === folder ? constants.X_OK : 0));
    } catch (error) {
      // A path that does not exist yet is created later.
      const problem = readOnlyError(error);
      if (problem !== undefined) throw problem;
    }
  }
}

/** Returns STORE_READ_ONLY if a call to the file system failed because a file or folder may not be written; undefined for other errors. */
export function readOnlyError(error: unknown): PlaneError | undefined {
  const { code, path } = (error ?? {}) as { code?: unknown; path?: unknown };
  if (typeof path !== 'string' || typeof code !== 'string' || !READ_ONLY.has(code)) return undefined;
  return planeError('STORE_READ_ONLY', { path, problem: code }, error);
}

/**
 * Takes the right to open the store's file; returns undefined if another process has it. The right is SQLite's lock on a separate file: the system
 * releases it when the process ends, however it ends. Never open that file by other means: closing any descriptor of it in this process would
 * release the lock.
 */
export function takeOwnership(folder: string): { release(): void } | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  refuseUnsafeFolder(folder);
  closeToOthers(folder);
  const database = new Database(closedLockFile(folder), 0);
  try {
    database.execute('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    const problem = error instanceof Error ? error.message : String(error);
    throw planeError('STORE_FAILED', {
      problem: `${problem} (${lockFile(folder)}, which holds no data: stop all processes of this folder and delete it)`,
    });
  }
  return { release: () => database.close() };
}

/**
 * Makes the lock's file before SQLite opens it, because SQLite gives the mode of that file to its journal. Only a new file is opened here: see
 * `takeOwnership`.
 */
function closedLockFile(folder: string): string {
  const path = lockFile(folder);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(path, 0o600);
  }
  return path;
}

/** Throws STORE_OWNED if another process has the store of this folder open. Makes nothing in a folder without a store. */
export function refuseOwned(folder: string): void {
  const address = readPlaneAddress(folder);
  if (address === undefined) return;
  const ownership = takeOwnership(folder);
  if (ownership === undefined) throw planeError('STORE_OWNED', { file: storeFile(folder), pid: address.pid });
  ownership.release();
}

export function readPlaneAddress(folder: string): PlaneAddress | undefined {
  try {
    const value = JSON.parse(readFileSync(planeFile(folder), 'utf8')) as Partial<PlaneAddress>;
    const { pid, socket, version } = value;
    if (typeof pid !== 'number' || typeof socket !== 'string' || typeof version !== 'number') return undefined;
    return { pid, socket, version };
  } catch {
    return undefined;
  }
}

/** Only the owner calls this. The file is renamed into place, so that no process reads half of it. */
export function writePlaneAddress(folder: string, socket: string): void {
  const draft = `${planeFile(folder)}.${process.pid}`;
  const address: PlaneAddress = { pid: process.pid, socket, version: PROTOCOL_VERSION };
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(address)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, planeFile(folder));
}

/** Only the owner calls this: at its end, and at its start to remove what a killed owner left. */
export function removePlaneAddress(folder: string): void {
  const address = readPlaneAddress(folder);
  rmSync(planeFile(folder), { force: true });
  if (address !== undefined && basename(dirname(address.socket)).startsWith(SOCKET_FOLDER))
    removeSocket(address.socket);
}

const SOCKET_FOLDER = 'sallyport-';
/** Max bytes of a socket's path without the final zero byte: the limit of macOS, the lowest of the common systems. */
const MAX_SOCKET_BYTES = 103;

/** Makes a new folder that only this user can enter. Its path is short enough for a socket within the system's limit. */
export function makeSocketPath(): string {
  const problems: string[] = [];
  for (const parent of [process.env['XDG_RUNTIME_DIR'], tmpdir(), '/tmp']) {
    if (parent === undefined || parent === '') continue;
    const longest = Buffer.byteLength(join(parent, `${SOCKET_FOLDER}XXXXXX`, 'store.sock'));
    if (longest > MAX_SOCKET_BYTES) {
      problems.push(`${parent} is too long for a socket`);
      continue;
    }
    try {
      // Attack: a folder that another user prepared. This one is newly created with mode 0700, so it cannot have existed before.
      return join(mkdtempSync(join(parent, SOCKET_FOLDER)), 'store.sock');
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw planeError('STORE_UNAVAILABLE', { problem: `there is no place for its socket (${problems.join('; ')})` });
}

function removeSocket(socket: string): void {
  rmSync(socket, { force: true });
  try {
    rmdirSync(dirname(socket));
  } catch {
    // The folder is already gone, or contains something else, which must not be deleted.
  }
}

/** Returns a function that checks whether the path still leads to the file that is open now. It does not open the file: see `takeOwnership`. */
export function watchPlace(file: string): () => boolean {
  const opened = statSync(file);
  return () => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found !== undefined && found.ino === opened.ino && found.dev === opened.dev;
  };
}
