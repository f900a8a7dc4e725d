import { existsSync, rmSync, statSync } from 'node:fs';
import { sha256 } from '../../base/sha256.ts';
import { readClientText } from './read-client-text.ts';
import { FILE_MOVES, replaceFile, writeDraft, type FileMoves } from './replace-file.ts';
import { rewireText, type OwnCommand, type ReplacedEntries } from './rewire-text.ts';
import { readRewired, writeRewired, type RewiredFile } from './rewired-record.ts';

export interface RewireRequest {
  /** The file of the client. */
  readonly path: string;
  /** SHA-256 of the file when its servers were read. */
  readonly digest: string;
  readonly replaced: readonly ReplacedEntries[];
  readonly own: OwnCommand;
  /** The data folder, with the record of what was rewired. */
  readonly dataFolder: string;
  readonly now: Date;
}

export type Rewire =
  | { readonly kind: 'rewired'; readonly backup: string; readonly names: readonly string[] }
  | { readonly kind: 'problem'; readonly problem: string };

/**
 * Rewires one file of a client. First the backup is written, then the record, then the file itself is replaced in one step: after a crash at
 * any point the file is the old or the new one, and a new one can be undone.
 */
export function rewireFile(request: RewireRequest, moves: FileMoves = FILE_MOVES): Rewire {
  const { path, digest, replaced, dataFolder } = request;
  const read = readClientText(path);
  if (read.kind === 'problem') return read;
  if (sha256(read.bytes) !== digest) return changed;
  const edited = rewireText(read.text, replaced, request.own);
  if (edited.kind === 'problem') return edited;
  const bytes = Buffer.from(read.bom + edited.text);
  const record = readRewired(dataFolder);
  if (record.kind === 'problem') return record;

  const backup = writeBackup(path, read.bytes);
  const names = replaced.flatMap((entries) => entries.names);
  const facts = { path, backup, before: digest, after: sha256(bytes), mode: statSync(path).mode & 0o7777 };
  const file: RewiredFile = { ...facts, at: request.now.toISOString(), names };
  try {
    writeRewired(dataFolder, [...record.files, file], record.digest);
    const result = replaceFile({ path, bytes, expected: digest }, moves);
    if (result.kind === 'replaced') return { kind: 'rewired', backup, names };
  } catch (error) {
    forget(dataFolder, file);
    throw error;
  }
  forget(dataFolder, file);
  return changed;
}

const changed: Rewire = { kind: 'problem', problem: 'another program changed it meanwhile' };

/** Copies the bytes to the first free name next to the file. The copy holds the old secrets: only this user can read it. */
export function writeBackup(path: string, bytes: Uint8Array): string {
  for (let count = 1; ; count += 1) {
    const backup = `${path}.sallyport-backup-${count}`;
    if (existsSync(backup)) continue;
    try {
      writeDraft(backup, bytes, 0o600);
      return backup;
    } catch (error) {
      // Another process took the name.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Removes a backup and its record, because the file is again, or still, what it was. */
export function forget(dataFolder: string, { backup }: Pick<RewiredFile, 'backup'>): void {
  const record = readRewired(dataFolder);
  if (record.kind === 'read' && record.files.some((file) => file.backup === backup)) {
    const files = record.files.filter((file) => file.backup !== backup);
    writeRewired(dataFolder, files, record.digest);
  }
  rmSync(backup, { force: true });
}
