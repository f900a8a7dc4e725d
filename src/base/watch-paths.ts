import { once } from 'node:events';
import { unwatchFile, watchFile, type Stats } from 'node:fs';
import { watch, type FSWatcher } from 'chokidar';
import { pause } from './pause.ts';

export interface PathWatch {
  /** Resolves when the paths are being watched. */
  readonly ready: Promise<void>;
  /** Watches one more file or folder. */
  add(path: string): void;
  close(): Promise<void>;
}

export interface PathWatchOptions {
  /** A file counts as written when it did not grow for this long. */
  readonly settleMs?: number;
  /** Returns whether changes of this file or folder, which is inside a watched folder, are ignored. */
  readonly ignores?: (path: string, isFile: boolean) => boolean;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

const SETTLE_MS = 200;
/** How often each path is checked with `stat`. One `stat` per path is cheap. */
const LOOK_MS = 500;

/**
 * Watches files and folders, and continues after a path was deleted and created again, or moved away and back. A watch of the operating
 * system belongs to the file or folder that existed when the watch began: it reports nothing about a later file at the same path, and chokidar
 * gives it up when the path is gone for a moment. So each path is checked twice a second, and gets a new watch when it leads to another file
 * or folder, or to one that was away.
 */
export function watchPaths(paths: Iterable<string>, options: PathWatchOptions): PathWatch {
  const { settleMs = SETTLE_MS, ignores, onChange, onError } = options;
  const watched = new Map<string, (now: Stats, before: Stats) => void>();
  const gone = new Set<string>();
  const closing = new AbortController();
  let turn = Promise.resolve();

  function start(): { readonly watcher: FSWatcher; readonly ready: Promise<void> } {
    const watcher = watch([...watched.keys()], {
      ignoreInitial: true,
      ...(ignores && { ignored: (path, facts) => !watched.has(path) && ignores(path, facts?.isFile() === true) }),
      awaitWriteFinish: { stabilityThreshold: settleMs, pollInterval: Math.max(10, settleMs / 4) },
    });
    watcher.on('all', (event, path) => {
      if (event.startsWith('unlink') && watched.has(path)) gone.add(path);
      onChange();
    });
    watcher.on('error', onError);
    return { watcher, ready: once(watcher, 'ready', { signal: closing.signal }).then(nothing, nothing) };
  }

  function look(path: string): void {
    const compareAt = (now: Stats, before: Stats): void => compare(path, now, before);
    watched.set(path, compareAt);
    watchFile(path, { interval: LOOK_MS, persistent: false }, compareAt);
  }

  function compare(path: string, now: Stats, before: Stats): void {
    // The inode 0 means that nothing is there. When the path is back, `before` is what was there earlier, and not that it was gone.
    if (now.ino === 0) {
      gone.add(path);
      // The first look at a path where nothing ever was reports the same.
      if (before.ino !== 0) onChange();
      return;
    }
    // A new file may get the inode of the deleted one, but not its time of birth.
    const isOther = now.ino !== before.ino || now.dev !== before.dev || now.birthtimeMs !== before.birthtimeMs;
    // A move changes the times of the inode but not of the content, also a move there and back between two looks.
    const isMoved = now.ctimeMs !== before.ctimeMs && now.mtimeMs === before.mtimeMs;
    if (gone.delete(path) || isOther || isMoved) turn = turn.then(watchAnew);
  }

  async function watchAnew(): Promise<void> {
    if (closing.signal.aborted) return;
    await current.watcher.close();
    current = start();
    await current.ready;
    // No watch reported the changes between the old file and this watch, so they are reported here as one change. The pause gives a writer
    // time to finish the new file.
    await pause(settleMs, closing.signal);
    if (!closing.signal.aborted) onChange();
  }

  for (const path of paths) look(path);
  let current = start();
  return {
    ready: current.ready,
    add(path) {
      if (watched.has(path)) return;
      look(path);
      current.watcher.add(path);
    },
    async close() {
      closing.abort();
      for (const [path, compareAt] of watched) unwatchFile(path, compareAt);
      await current.watcher.close();
      await turn;
      // The last turn may have replaced the watcher after it was closed above.
      await current.watcher.close();
    },
  };
}

function nothing(): void {}
