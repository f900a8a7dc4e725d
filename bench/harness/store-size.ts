import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** Total size of the files in a folder of the embedded store. */
export function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0);
}

/** Memory that a Redis server uses, in bytes. */
export async function usedMemory(url: string): Promise<number> {
  const redis = new Redis(url);
  try {
    return Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? Number.NaN);
  } finally {
    redis.disconnect();
  }
}
