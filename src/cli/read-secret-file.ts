import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';
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
    if (own !== undefined && (facts.uid !== own || lstatSync(path).uid !== own)) {
      throw unauthorised(`${path} belongs to another user.`, 'Use a file of your own.');
    }
    if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0) {
      throw unauthorised(`${path} can be read by other users.`, `Close it: chmod 600 ${path}`);
    }
    if (facts.size > MOST_BYTES) throw unauthorised(`${path} has more than ${MOST_BYTES} bytes.`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
