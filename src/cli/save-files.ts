import { mkdirSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { displayFileName } from '../modules/authoring/shown-text.ts';
import type { FileWriteBack } from '../domain/outcome/content.ts';
import { unavailable } from './command-failure.ts';

const MAX_NAMES = 1000;

/**
 * Writes the files that a tool returned. The tool chose their names, so only the last part of a name is used, never as a hidden file. An
 * existing file is never overwritten, and an existing link is never followed.
 */
export function saveFiles(files: readonly FileWriteBack[], folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return files.map(({ name, bytes }) => saveOne(folder, displayFileName(name).replace(/^\.+/, '_'), bytes));
}

function saveOne(folder: string, name: string, bytes: Uint8Array): string {
  const ending = extname(name);
  const stem = name.slice(0, name.length - ending.length);
  for (let count = 1; count <= MAX_NAMES; count += 1) {
    const path = join(folder, count === 1 ? name : `${stem}-${count}${ending}`);
    try {
      writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 });
      return path;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EEXIST') throw unavailable(`${path} cannot be written (${code}).`, undefined, error);
    }
  }
  throw unavailable(`${folder} has too many files named like ${name}.`);
}
