import { watchPaths } from '../base/watch-paths.ts';
import type { LoadedConfig } from './load-config.ts';
import { OPTION_ROWS } from './option-rows.ts';
import { showConfig } from './show-config.ts';

export interface ConfigChange {
  readonly next: LoadedConfig;
  /** Options whose new value applies from now on. */
  readonly live: readonly string[];
  /** Options whose new value applies only after a restart. */
  readonly waiting: readonly string[];
}

export interface ConfigWatch {
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

/** Reads the files again when they change. An invalid new file changes nothing: `onError` is called, and the old configuration stays. */
export function watchConfig(
  files: readonly string[],
  current: LoadedConfig,
  on: {
    readonly load: () => LoadedConfig;
    readonly onChange: (change: ConfigChange) => void | Promise<void>;
    readonly onError: (error: unknown) => void;
  },
): ConfigWatch {
  let known = current;
  let turn = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const next = on.load();
      const { live, waiting } = compare(known, next);
      await on.onChange({ next, live, waiting });
      known = next;
    } catch (error) {
      on.onError(error);
    }
  };
  const watcher = watchPaths(files, {
    onChange: () => void (turn = turn.then(reload)),
    onError: on.onError,
  });
  return {
    ready: watcher.ready,
    async close() {
      await watcher.close();
      await turn;
    },
  };
}

function compare(before: LoadedConfig, after: LoadedConfig): Pick<ConfigChange, 'live' | 'waiting'> {
  const [old, now] = [showConfig(before), showConfig(after)];
  const changed = OPTION_ROWS.filter(
    (_, index) => JSON.stringify(old[index]!.value) !== JSON.stringify(now[index]!.value),
  );
  const paths = (live: boolean): string[] =>
    changed.filter((row) => (row.live ?? false) === live).map((row) => row.path);
  return { live: paths(true), waiting: paths(false) };
}
