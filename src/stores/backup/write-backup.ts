import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import {
  BACKUP_FORMAT,
  digestFile,
  MANIFEST_FILE,
  readBackup,
  type BackupFile,
  type BackupManifest,
} from './manifest.ts';

export interface BackupDraft {
  /** Only the owner can read this folder (mode 0700): the files contain arguments and outcomes in clear text. */
  readonly folder: string;
}

type Content = Omit<BackupManifest, 'format' | 'files'> & {
  readonly files: readonly (Pick<BackupFile, 'name'> & Partial<Pick<BackupFile, 'keys'>>)[];
};

/** Makes a backup folder. It gets its final name only when it is complete and verified; after a failure nothing is left. */
export async function writeBackup(
  folder: string,
  fill: (draft: BackupDraft) => Promise<Content>,
): Promise<BackupManifest> {
  if (existsSync(folder)) throw planeError('BACKUP_FAILED', { problem: `${folder} is there already` });
  const draft = join(dirname(folder), `.${basename(folder)}.${process.pid}.partial`);
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  try {
    const content = await fill({ folder: draft });
    const files: BackupFile[] = [];
    for (const file of content.files) {
      const path = join(draft, file.name);
      syncFile(path);
      files.push({ ...file, bytes: statSync(path).size, sha256: await digestFile(path) });
    }
    writeManifest(draft, { ...content, format: BACKUP_FORMAT, files });
    // Verify the backup by reading it back from the disk, as a restore would.
    const verified = await readBackup(draft, content.store);
    renameSync(draft, folder);
    syncFile(dirname(folder));
    return verified;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

function writeManifest(folder: string, manifest: BackupManifest): void {
  const file = openSync(join(folder, MANIFEST_FILE), 'wx', 0o600);
  try {
    writeSync(file, `${JSON.stringify(manifest, undefined, 2)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFile(folder);
}

export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
