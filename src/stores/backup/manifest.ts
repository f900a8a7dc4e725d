import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';

export const BACKUP_FORMAT = 1;
export const MANIFEST_FILE = 'manifest.json';

/** Describes a backup. It is written last, so a folder without a manifest is not a backup. */
export interface BackupManifest {
  readonly format: number;
  readonly store: 'embedded' | 'redis';
  readonly release: string;
  readonly madeAt: string;
  readonly incarnation: string;
  readonly schema: string;
  readonly lanes: readonly LaneFacts[];
  readonly files: readonly BackupFile[];
}

/** Facts of one lane at the moment it was copied. */
export interface LaneFacts {
  readonly lane: number;
  readonly auditSequence: number;
  /** Number of calls that were not settled. */
  readonly liveCalls: number;
}

export interface BackupFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Number of Redis keys in the file. */
  readonly keys?: number;
}

/** Reads the manifest, and compares the size and the digest of every file with it. */
export async function readBackup(
  folder: string,
  store: BackupManifest['store'],
  onProgress: (text: string) => void = () => undefined,
): Promise<BackupManifest> {
  const manifest = readManifest(folder);
  if (manifest.store !== store) throw invalid(folder, `it is a backup of the ${manifest.store} store`);
  for (const file of manifest.files) {
    onProgress(`checking ${file.name}`);
    await checkFile(folder, file);
  }
  return manifest;
}

function readManifest(folder: string): BackupManifest {
  let manifest: BackupManifest;
  try {
    manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8')) as BackupManifest;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw invalid(folder, code === 'ENOENT' ? `it has no ${MANIFEST_FILE}` : `its ${MANIFEST_FILE} cannot be read`);
  }
  if (manifest.format !== BACKUP_FORMAT) {
    throw invalid(folder, `it has format ${String(manifest.format)}; this release knows ${BACKUP_FORMAT}`);
  }
  if (manifest.files.some(({ name }) => !/^[a-z0-9.-]+$/.test(name))) throw invalid(folder, 'a file name is not ours');
  return manifest;
}

async function checkFile(folder: string, { name, bytes, sha256 }: BackupFile): Promise<void> {
  const path = join(folder, name);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw invalid(folder, `${name} is missing`);
  if (found.size !== bytes) throw invalid(folder, `${name} has ${found.size} bytes instead of ${bytes}`);
  if ((await digestFile(path)) !== sha256) throw invalid(folder, `${name} was changed: its digest is another`);
}

export async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

export function invalid(folder: string, problem: string): PlaneError {
  return planeError('BACKUP_INVALID', { folder, problem });
}
