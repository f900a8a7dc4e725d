import { openSync } from 'node:fs';
import { unavailable } from './command-failure.ts';

/** Made new and closed from the start: at no moment can somebody else open it. */
export function openNewFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw unavailable(`${path} cannot be written (${code}).`, 'Name a new file.', error);
  }
}
