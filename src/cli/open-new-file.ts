import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import { unavailable, usage } from './command-failure.ts';

/** Creates a new file that is closed to other users from the start: at no moment can another user open it. Fails if the path exists. */
export function openNewFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw usage(`${path} exists already, and is not overwritten.`, 'Name a new file, or delete this one.');
    if (code === 'ENOENT')
      throw usage(`${path} cannot be written: its folder does not exist.`, 'Make the folder, or name another.');
    throw unavailable(`${path} cannot be written (${code}).`, 'Name a new file.', error);
  }
}

/**
 * Writes what `make` makes to a new file. Creates the file first: a secret that could not be written would be useless. Deletes the file if a
 * later step fails.
 */
export async function writeNewFile<Made>(
  path: string,
  make: () => Promise<Made>,
  textOf: (made: Made) => string,
): Promise<Made> {
  const file = openNewFile(path);
  try {
    const made = await make();
    writeFileSync(file, `${textOf(made)}\n`);
    return made;
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}
