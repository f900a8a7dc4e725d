import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { unauthorised } from './command-failure.ts';

const MOST_BYTES = 64 * 1024;

/** A file with a secret in it: regular, ours, and closed to everybody else. The messages never quote its content. */
export function readSecretFile(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw unauthorised(`${path} cannot be opened (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw unauthorised(`${path} is not a regular file.`);
    const own = process.getuid?.();
    const given = isGivenByManager(path);
    const isOurs = (uid: number): boolean => uid === own || (given && uid === 0);
    if (own !== undefined && (!isOurs(facts.uid) || !isOurs(lstatSync(path).uid))) {
      throw unauthorised(`${path} belongs to another user.`, 'Use a file of your own.');
    }
    if (process.platform !== 'win32' && (facts.mode & (given ? 0o037 : 0o077)) !== 0) {
      throw unauthorised(`${path} can be read by other users.`, `Close it: chmod 600 ${path}`);
    }
    if (facts.size > MOST_BYTES) throw unauthorised(`${path} has more than ${MOST_BYTES} bytes.`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * A credential of systemd: in a folder that only this service can enter. It may be root's, with an access list that names our user; the
 * group's bits then show that list's mask and no group.
 */
function isGivenByManager(path: string): boolean {
  const folder = process.env['CREDENTIALS_DIRECTORY'];
  return folder !== undefined && isAbsolute(folder) && dirname(resolve(path)) === resolve(folder);
}
