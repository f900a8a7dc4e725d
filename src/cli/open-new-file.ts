import { openSync } from 'node:fs';
import { unavailable } from './command-failure.ts';

/** Creates a new file that is closed to other users from the start: at no moment can another user open it. Fails if the path exists. */
export function openNewFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw unavailable(`${path} cannot be written (${code}).`, 'Name a new file.', error);
  }
}
