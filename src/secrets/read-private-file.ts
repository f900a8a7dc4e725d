import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs';

export const MOST_PRIVATE_BYTES = 64 * 1024;

export type ReadPrivateFile =
  | { readonly kind: 'read'; readonly text: string }
  /** `absent` tells the one problem apart that creating the file would solve. The words never quote the content. */
  | { readonly kind: 'problem'; readonly problem: string; readonly fix?: string; readonly absent: boolean };

/** A file with a secret in it: regular, ours, and closed to everybody else. Opened without waiting, as a FIFO would block for ever. */
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
  if (own !== undefined && (facts.uid !== own || lstatSync(path).uid !== own)) {
    return problem('belongs to another user', 'Use a file of your own.');
  }
  if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0) {
    return problem('can be read by other users', `Close it: chmod 600 ${path}`);
  }
  if (facts.size > MOST_PRIVATE_BYTES) return problem(`has more than ${MOST_PRIVATE_BYTES} bytes`);
  return { kind: 'read', text: readFileSync(file, 'utf8') };
}

function problem(text: string, fix?: string): ReadPrivateFile {
  return { kind: 'problem', problem: text, absent: false, ...(fix === undefined ? {} : { fix }) };
}
