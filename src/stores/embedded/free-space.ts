import { statfsSync } from 'node:fs';

/** SQLite needs space for its log before a commit. With less than this, the next large call may be refused. */
const FULL_BELOW_BYTES = 4 * 1024 * 1024;

export interface DiskState {
  readonly freeBytes: number;
  readonly isFull: boolean;
}

/** Returns the free space on the disk of the store's folder; undefined when the system does not report it. */
export function readFreeSpace(folder: string): DiskState | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const freeBytes = bavail * bsize;
    return { freeBytes, isFull: freeBytes < FULL_BELOW_BYTES };
  } catch {
    return undefined;
  }
}

/** For `/readyz`: returns why calls cannot be accepted, if a full disk is the reason. */
export function describeFullDisk(folder: string): string | undefined {
  const disk = readFreeSpace(folder);
  if (disk?.isFull !== true) return undefined;
  return `the disk of the store is full: ${disk.freeBytes} bytes are left for ${folder}`;
}
