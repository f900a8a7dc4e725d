import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { ToolFailure } from '../../modules/authoring/tool-failure.ts';

/**
 * Reads the bytes of a regular file. The file is opened without following a link and without waiting (a FIFO would block forever). Type and
 * size are read from the open file, so that it cannot be swapped in between. Throws ToolFailure.
 */
export function readRegularFile(path: string, maxBytes: number): Uint8Array {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw refused(
      (error as NodeJS.ErrnoException).code === 'ELOOP' ? 'it is a symbolic link' : 'it cannot be opened',
      error,
    );
  }
  try {
    return readOpenFile(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

function readOpenFile(file: number, maxBytes: number): Uint8Array {
  const facts = fstatSync(file);
  if (!facts.isFile()) throw refused('it is not a regular file');
  // The logical size counts: a sparse file of 10 GB is 10 GB for every reader.
  if (facts.size > maxBytes) throw refused(`it has ${facts.size} bytes; ${maxBytes} are left for this call`);
  const bytes = Buffer.alloc(facts.size);
  let filled = 0;
  while (filled < bytes.length) {
    const read = readSync(file, bytes, filled, bytes.length - filled, null);
    if (read === 0) throw refused('it shrank while it was read');
    filled += read;
  }
  // Files of /proc report size 0 but have content. Their size, like that of a growing file, cannot be trusted.
  if (readSync(file, Buffer.alloc(1), 0, 1, null) > 0) throw refused('it has more content than its size says');
  return bytes;
}

function refused(problem: string, cause?: unknown): ToolFailure {
  return new ToolFailure(`A file could not be sent: ${problem}.`, {
    code: 'FILE_REFUSED',
    ...(cause === undefined ? {} : { cause }),
  });
}
