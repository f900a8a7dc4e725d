import { readPrivateFile } from '../secrets/read-private-file.ts';
import { unauthorised } from './command-failure.ts';

/** A file with a secret in it: regular, ours, and closed to everybody else. The messages never quote its content. */
export function readSecretFile(path: string): string {
  const read = readPrivateFile(path);
  if (read.kind === 'problem') throw unauthorised(`${path} ${read.problem}.`, read.fix);
  return read.text;
}
