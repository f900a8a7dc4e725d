import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';

export const MAX_PRIVATE_BYTES = 64 * 1024;

export type ReadPrivateFile =
  | { readonly kind: 'read'; readonly text: string }
  /**
   * `absent`: the file does not exist, so creating it would help; for all other problems it would not. The texts never quote the content.
   */
  | { readonly kind: 'problem'; readonly problem: string; readonly fix?: string; readonly absent: boolean };

/**
 * Reads a file that contains a secret. It must be a regular file that belongs to this user and is closed to all others. It is opened
 * without waiting, because a FIFO would block forever.
 */
export function readPrivateFile(path: string): ReadPrivateFile {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return { kind: 'problem', problem: `cannot be opened (${code})`, absent: code === 'ENOENT' };
  }
  try {
    return readOpen(path, file);
  } finally {
    closeSync(file);
  }
}

function readOpen(path: string, file: number): ReadPrivateFile {
  const facts = fstatSync(file);
  if (!facts.isFile()) return problem('is not a regular file');
  const own = process.getuid?.();
  const given = isGivenByManager(path);
  const isOurs = (uid: number): boolean => uid === own || (given && uid === 0);
  if (own !== undefined && (!isOurs(facts.uid) || !isOurs(lstatSync(path).uid))) {
    return problem('belongs to another user', 'Use a file of your own.');
  }
  if (process.platform !== 'win32' && (facts.mode & (given ? 0o037 : 0o077)) !== 0) {
    return problem('can be read by other users', `Close it: chmod 600 ${path}`);
  }
  if (facts.size > MAX_PRIVATE_BYTES) return problem(`has more than ${MAX_PRIVATE_BYTES} bytes`);
  return { kind: 'read', text: readFileSync(file, 'utf8') };
}

function problem(text: string, fix?: string): ReadPrivateFile {
  return { kind: 'problem', problem: text, absent: false, ...(fix === undefined ? {} : { fix }) };
}

/**
 * Whether the file is a systemd credential, which is in a folder that only this service can enter. It may belong to root, with an access
 * list that names this user; the group bits then show the mask of that list, and not the rights of a group.
 */
function isGivenByManager(path: string): boolean {
  const folder = process.env['CREDENTIALS_DIRECTORY'];
  return folder !== undefined && isAbsolute(folder) && dirname(resolve(path)) === resolve(folder);
}
