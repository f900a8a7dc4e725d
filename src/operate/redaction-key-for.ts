import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { planeError } from '../domain/errors/errors.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';
import { newRedactionKey, readKeyLines, writeKeyLine, type RedactionKey } from '../observe/redact/redaction-key.ts';
import { readPrivateFile } from '../base/read-private-file.ts';
import { randomId } from '../domain/identity/new-id.ts';
import type { StoreOptions } from './open-store.ts';

const NAME = 'redaction.key';

/**
 * Returns the key for the marks that replace secrets. It is read from the given file, or from a file next to the embedded store, which is
 * created if it is missing. On Redis without a key file every process has its own key, so marks can be compared only within one process.
 */
export function redactionKeyFor(store: StoreOptions, keyFile?: string): RedactionKey {
  if (keyFile !== undefined) return readKey(keyFile);
  if (store.store === 'redis') return newRedactionKey();
  const path = join(store.folder ?? DEFAULT_FOLDER, NAME);
  makeKeyFile(path);
  return readKey(path);
}

function readKey(path: string): RedactionKey {
  const read = readPrivateFile(path);
  if (read.kind === 'problem') throw refused(path, read.problem);
  const keys = readKeyLines(read.text);
  if (keys === undefined) throw refused(path, 'holds no lines of an id and a key');
  return keys[0];
}

function refused(path: string, problem: string): Error {
  return planeError('CONFIG_INVALID', { problems: [`the redaction key file ${path} ${problem}`] });
}

/** Creates the key file atomically, and never overwrites an existing one, because two processes may start at once. */
function makeKeyFile(path: string): void {
  const found = readPrivateFile(path);
  if (found.kind === 'read' || !found.absent) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomId()}`;
  writeFileSync(draft, writeKeyLine(newRedactionKey()), { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
