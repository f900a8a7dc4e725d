import { readFile } from 'node:fs/promises';
import type { LoadedCode } from './code-format.ts';

/** Loaded code, keyed by the absolute path of its file. */
export type LoadedSources = ReadonlyMap<string, Uint8Array>;

/**
 * Returns the code as it was loaded, if one of its files has changed or is gone; a new process needs it instead of the files. Undefined:
 * the files can be read as they are.
 */
export async function changedSources(loaded: LoadedSources | undefined): Promise<LoadedCode | undefined> {
  if (loaded === undefined) return undefined;
  const same = await Promise.all(
    [...loaded].map(async ([file, code]) => {
      const now = await readFile(file).catch(() => undefined);
      return now?.equals(code) === true;
    }),
  );
  return same.every(Boolean) ? undefined : Object.fromEntries(loaded);
}
