import { closeSync, existsSync, linkSync, openSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { randomId } from '../domain/identity/new-id.ts';
import { unavailable, usage } from './command-failure.ts';

/** Creates a new file that is closed to other users from the start: at no moment can another user open it. Fails if the path exists. */
function openNewFile(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw existsAlready(path);
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

/**
 * Lets `write` fill a new file, which gets its name when it is complete: a file that was cut off by a full disk would look whole, and would
 * stand in the way of the next attempt. `write` closes the descriptor.
 */
export async function fillNewFile(path: string, write: (file: number) => Promise<void>): Promise<void> {
  if (existsSync(path)) throw existsAlready(path);
  const draft = `${path}.${randomId()}.partial`;
  try {
    await write(openNewFile(draft));
    // A link, because a rename would overwrite a file that was made meanwhile.
    linkSync(draft, path);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? existsAlready(path) : error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function existsAlready(path: string): Error {
  return usage(`${path} exists already, and is not overwritten.`, 'Name a new file, or delete this one.');
}
