import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { sha256 } from '../../base/sha256.ts';

/** The file system calls that a test makes fail. */
export interface FileMoves {
  readonly rename: (from: string, to: string) => void;
}

export const FILE_MOVES: FileMoves = { rename: renameSync };

export type ReplaceFile =
  | { readonly kind: 'replaced' }
  /** Another program wrote the file meanwhile, or deleted it. */
  | { readonly kind: 'changed' };

interface Replacement {
  /** A symbolic link stays a link: the file that it leads to is replaced. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Default: the mode of the file that is replaced. */
  readonly mode?: number;
  /** The digest that the file must have. `absent`: there must be no file. Undefined: any content is replaced. */
  readonly expected: string | undefined;
}

/**
 * Replaces a file in one step: a reader, or a crash, sees the old content or the new one. The mode and the owner stay. Throws if the file
 * system refuses, and then leaves nothing behind.
 */
export function replaceFile({ path, bytes, mode, expected }: Replacement, moves: FileMoves = FILE_MOVES): ReplaceFile {
  const target = targetOf(path);
  const facts = statSync(target, { throwIfNoEntry: false });
  const draft = join(dirname(target), `.${basename(target)}.sallyport-${randomBytes(6).toString('hex')}`);
  writeDraft(draft, bytes, mode ?? (facts === undefined ? 0o600 : facts.mode & 0o7777), facts);
  try {
    if (expected !== undefined && digestOf(target) !== expected) {
      rmSync(draft, { force: true });
      return { kind: 'changed' };
    }
    moves.rename(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  syncFolder(dirname(target));
  return { kind: 'replaced' };
}

/** The file that a path leads to; the path itself if there is no file yet. */
export function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return path;
    throw error;
  }
}

/** The digest of a file, or `absent`. */
export function digestOf(path: string): string {
  try {
    return sha256(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'absent';
    throw error;
  }
}

/** Writes a new file that only its user can read, and gives it its mode at the end. */
export function writeDraft(
  path: string,
  bytes: Uint8Array,
  mode: number,
  owner?: { readonly uid: number; readonly gid: number },
): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    for (let at = 0; at < bytes.byteLength;) at += writeSync(file, bytes, at);
    const own = fstatSync(file);
    // As root: the file of a user must stay the file of that user.
    if (owner !== undefined && (owner.uid !== own.uid || owner.gid !== own.gid)) fchownSync(file, owner.uid, owner.gid);
    fchmodSync(file, mode);
    fsyncSync(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Makes a new name in a folder last. Not every file system can do that. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // The content itself was synced; after a power cut the old name may be there.
  }
}
