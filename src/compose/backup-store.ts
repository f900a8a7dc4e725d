import { resolve } from 'node:path';
import type { BackupManifest } from '../stores/backup/manifest.ts';
import { backupEmbeddedStore, restoreEmbeddedStore } from '../stores/embedded/backup-store.ts';
import { backupRedisStore } from '../stores/redis/backup-store.ts';
import { readFunctions } from '../stores/redis/function-library.ts';
import { moveOldAudits } from '../stores/redis/move-old-audit.ts';
import { restoreRedisStore } from '../stores/redis/restore-store.ts';
import { upgradeLibrary, withServer } from '../stores/redis/with-server.ts';
import { loadScopeFunctions } from '../services/storage/redis/scope-functions.ts';
import { openStore, type StoreOptions } from './open-store.ts';
import { RELEASE } from './release.ts';

export interface BackupOptions {
  readonly folder: string;
  /** Redis: how long writers may stand still for one lane. */
  readonly pauseMs: number;
  readonly onProgress: (text: string) => void;
}

/** A consistent copy of a store that others go on using. */
export function backupStore(store: StoreOptions, options: BackupOptions): Promise<BackupManifest> {
  const { folder, onProgress, pauseMs } = options;
  return store.store === 'redis'
    ? backupRedisStore(store.redis, { folder, release: RELEASE, pauseMs, onProgress })
    : backupEmbeddedStore(store, { folder, release: RELEASE, onProgress });
}

/** Into an empty place only. What comes out has to be adopted before anybody can use it. */
export function restoreStore(
  store: StoreOptions,
  options: Pick<BackupOptions, 'folder' | 'onProgress'>,
): Promise<BackupManifest> {
  return store.store === 'redis'
    ? restoreRedisStore(store.redis, options)
    : restoreEmbeddedStore(resolve(store.folder ?? '.sallyport'), options);
}

/** Brings the store up to this release, beside whoever uses it: functions on Redis, tables in the file. */
export async function upgradeStore(store: StoreOptions): Promise<'upgraded' | 'current'> {
  if (store.store === 'redis') {
    const answer = await upgradeLibrary(store.redis);
    const moved = await withServer(store.redis, async ({ commands, name }) => {
      await loadScopeFunctions(commands);
      return moveOldAudits(commands, readFunctions(), name);
    });
    return answer === 'loaded' || moved > 0 ? 'upgraded' : 'current';
  }
  // Whoever opens the file brings its tables up to date, in one transaction.
  await (await openStore(store)).close();
  return 'current';
}
