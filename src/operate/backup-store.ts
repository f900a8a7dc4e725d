import { countNoun } from '../base/count-noun.ts';
import { resolve } from 'node:path';
import type { BackupManifest } from '../stores/backup/manifest.ts';
import { backupEmbeddedStore, restoreEmbeddedStore } from '../stores/embedded/backup-store.ts';
import { backupRedisStore } from '../stores/redis/backup-store.ts';
import { readFunctions } from '../stores/redis/function-library.ts';
import { moveOldAudits } from '../stores/redis/move-old-audit.ts';
import { restoreRedisStore } from '../stores/redis/restore-store.ts';
import { withServer, type ReachedServer } from '../stores/redis/with-server.ts';
import { describeLibrary, loadLibraries } from './load-libraries.ts';
import { openStore, type StoreOptions } from './open-store.ts';
import { RELEASE } from '../base/release.ts';
import { DEFAULT_FOLDER } from '../domain/default-folder.ts';

export interface BackupOptions {
  readonly folder: string;
  /** Redis only: how long writers of one lane may be paused. */
  readonly pauseMs: number;
  readonly onProgress: (text: string) => void;
}

/** Makes a consistent copy of a store while other processes keep using it. */
export function backupStore(store: StoreOptions, options: BackupOptions): Promise<BackupManifest> {
  const { folder, onProgress, pauseMs } = options;
  return store.store === 'redis'
    ? backupRedisStore(store.redis, { folder, release: RELEASE, pauseMs, onProgress })
    : backupEmbeddedStore(store, { folder, release: RELEASE, onProgress });
}

/** Restores a backup into an empty store only. The result must be adopted before any process can use it. */
export function restoreStore(
  store: StoreOptions,
  options: Pick<BackupOptions, 'folder' | 'onProgress'>,
): Promise<BackupManifest> {
  return store.store === 'redis'
    ? restoreRedisStore(store.redis, options)
    : restoreEmbeddedStore(resolve(store.folder ?? DEFAULT_FOLDER), options);
}

export interface Upgrade {
  readonly state: 'upgraded' | 'current';
  /** One sentence for each part of the store. */
  readonly done: readonly string[];
}

/** Upgrades the store to this release while other processes use it: functions on Redis, tables in the embedded file. */
export async function upgradeStore(store: StoreOptions): Promise<Upgrade> {
  if (store.store === 'redis') return withServer(store.redis, upgradeServer);
  // The first process to open the file brings its tables up to date, in one transaction.
  await (await openStore(store)).close();
  return { state: 'current', done: ['The tables of the file are those of this release.'] };
}

async function upgradeServer(server: ReachedServer): Promise<Upgrade> {
  const libraries = await loadLibraries(server);
  const moved = await moveOldAudits(server.commands, readFunctions(), server.name);
  const audit =
    moved === 0 ? [] : [`Moved ${countNoun(moved, 'record')} of the audit from the stream of an earlier release.`];
  const isChanged = moved > 0 || libraries.some(({ state }) => state === 'loaded');
  return { state: isChanged ? 'upgraded' : 'current', done: [...libraries.map(describeLibrary), ...audit] };
}
