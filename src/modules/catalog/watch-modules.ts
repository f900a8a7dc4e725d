import { basename, dirname, extname, resolve } from 'node:path';
import { deepFreeze } from '../../base/deep-freeze.ts';
import { watchPaths } from '../../base/watch-paths.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import type { BrokenEntry, LoadedModule, LoadResult } from './loaded-module.ts';
import { loadModules, type KnownModules, type LoadOptions } from './load-modules.ts';

export interface Reloaded extends LoadResult {
  /** Ids of those `modules` whose changed file is broken. The worker still serves their old generation. */
  readonly kept: readonly string[];
}

export interface ModuleWatch {
  /** Resolves when the files are being watched. */
  readonly ready: Promise<void>;
  /** Loads now, without waiting for a change. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions extends LoadOptions {
  /** The modules that are served when the watch starts. */
  readonly current: LoadResult;
  /** Called with the modules that should be served from now on. Calls do not overlap. */
  readonly onReload: (result: Reloaded) => void | Promise<void>;
  /** Called if the modules could not be loaded or watched, or if `onReload` failed. Everything stays as it was. */
  readonly onError: (error: unknown) => void;
  /** A file counts as written when it did not grow for this long. */
  readonly settleMs?: number;
}

/** Codes of a folder or manifest that cannot be read. */
const UNREADABLE: readonly string[] = ['MODULES_MISSING', 'SETUP_DUPLICATE'];

/** Endings of code files and manifests. Data files that a tool writes next to its code do not cause a reload. */
const WATCHED_ENDINGS: readonly string[] = ['.js', '.mjs', '.cjs', '.json', '.node', '.wasm', '.yaml', '.yml'];

/**
 * Loads modules again when their files change. If a module's new file is broken, its old code is still served. If the folder or manifest
 * itself cannot be read, all modules are still served, and the folder or manifest is reported as a broken entry.
 */
export function watchModules(path: string, options: WatchOptions): ModuleWatch {
  const known: KnownModules = options.known ?? new Map();
  const root = resolve(path);
  let current = options.current;
  let wanted = false;
  let loading: Promise<void> | undefined;
  let closed = false;

  const watcher = watchPaths(placesOf(root, current), {
    ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
    ignores: isIgnored,
    onChange: () => void request(),
    onError: options.onError,
  });

  /** Requests a reload. Changes that come while modules are loaded cause one more load afterwards. */
  function request(): Promise<void> {
    wanted = true;
    loading ??= loadUntilCalm().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  async function loadUntilCalm(): Promise<void> {
    while (wanted && !closed) {
      wanted = false;
      try {
        const next = await load();
        if (closed) return;
        if (sameResult(current, next)) continue;
        // Another module may have been refused because its id resembles one that is no longer served, so everything is loaded once more.
        wanted ||= hasLost(current, next);
        current = next;
        for (const place of placesOf(root, next)) watcher.add(place);
        await options.onReload(next);
      } catch (error) {
        options.onError(error);
      }
    }
  }

  async function load(): Promise<Reloaded> {
    try {
      return keepServing(current, await loadModules(path, { ...options, known }));
    } catch (error) {
      if (error instanceof PlaneError && UNREADABLE.includes(error.code)) return serveOn(current, root, error.message);
      throw error;
    }
  }

  return {
    ready: watcher.ready,
    reload: request,
    async close() {
      closed = true;
      await watcher.close();
      await loading;
    },
  };
}

function isIgnored(file: string, isFile: boolean): boolean {
  const name = basename(file);
  if (name.startsWith('.') || name === 'node_modules') return true;
  return isFile && !WATCHED_ENDINGS.includes(extname(name));
}

/** Reports the folder or manifest like a broken module, and keeps all modules served. */
function serveOn({ modules, broken }: LoadResult, place: string, reason: string): Reloaded {
  const others = broken.filter(({ file }) => file !== place);
  // The name is quoted, so that readers do not mistake it for the id of a module.
  const unreadable: BrokenEntry = { id: JSON.stringify(basename(place)), file: place, reason };
  const kept = modules.map(({ declaration }) => declaration.id);
  return deepFreeze({ modules, broken: [...others, unreadable], kept });
}

/** A manifest may name files anywhere, so their folders are watched too. */
function placesOf(root: string, { modules, broken }: LoadResult): string[] {
  const files = [...modules, ...broken].map(({ file }) => file).filter((file) => file !== root);
  return [...new Set([root, ...files.map((file) => dirname(file))])];
}

/**
 * Keeps serving the old generation of each broken module. The old module is found by file: the one with the same id, or else any other
 * module of that file.
 */
export function keepServing(previous: LoadResult, next: LoadResult): Reloaded {
  const served = new Set(next.modules.map((module) => module.declaration.id));
  const kept: LoadedModule[] = [];
  // The id of a broken file may be a guess. So broken modules with an exact match choose first, and the others take what is left.
  for (const byId of [true, false]) {
    for (const broken of next.broken) {
      if (kept.some((module) => module.file === broken.file && module.declaration.id === broken.id)) continue;
      // An id from a manifest is not a guess, so only the setup with exactly this id is kept.
      const exact = byId || broken.named === true;
      const old = previous.modules.find(
        ({ file, declaration: { id } }) => file === broken.file && !served.has(id) && (!exact || id === broken.id),
      );
      if (old === undefined) continue;
      served.add(old.declaration.id);
      kept.push(old);
    }
  }
  const modules = [...next.modules, ...kept].sort((a, b) => (a.declaration.id < b.declaration.id ? -1 : 1));
  return deepFreeze({ modules, broken: next.broken, kept: kept.map((module) => module.declaration.id).sort() });
}

/** Whether the id of a served module is gone. */
function hasLost({ modules }: LoadResult, next: LoadResult): boolean {
  const ids = new Set(next.modules.map(({ declaration }) => declaration.id));
  return modules.some(({ declaration }) => !ids.has(declaration.id));
}

function sameResult(a: LoadResult, b: LoadResult): boolean {
  return fingerprint(a) === fingerprint(b);
}

function fingerprint({ modules, broken }: LoadResult): string {
  // The file is part of the fingerprint too: if a file is renamed, the same code must be loaded from another place.
  const facts = modules.map(({ declaration, file, generation, runner, setup }) => [
    declaration.id,
    declaration.digest,
    file,
    generation,
    runner,
    setup,
  ]);
  return JSON.stringify([facts, broken]);
}
