import { readPrivateFile } from '../base/read-private-file.ts';
import { unauthorised } from './command-failure.ts';

/**
 * Reads a file that contains a secret. It must be a regular file that belongs to this user
 * and is closed to all others. Messages never quote its content.
 */
export function readSecretFile(path: string): string {
  const read = readPrivateFile(path);
  if (read.kind === 'problem') throw unauthorised(`${path} ${read.problem}.`, read.fix);
  return read.text;
}
