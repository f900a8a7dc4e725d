import { availableParallelism } from 'node:os';
import { basename, dirname, extname } from 'node:path';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { TakenNames } from './confusable-names.ts';
import { deepFreeze } from '../../base/deep-freeze.ts';
import { createDescriber, type Describer } from './describe-modules.ts';
import { findModules } from './find-modules.ts';
import type { BrokenEntry, LoadedModule, LoadResult } from './loaded-module.ts';
import type { ModuleEntry } from './module-entry.ts';
import { createGenerations, type Generation } from './module-generation.ts';
import { keepSources } from './module-sources.ts';
import { readDescription } from './read-description.ts';
import { shareSchemas } from './share-schemas.ts';

export interface LoadOptions {
  /** Pool of modules that name none. It does not count for a manifest in which an entry names a pool: see `poolOfUnnamed`. */
  readonly pool?: string;
  readonly importTimeoutMs?: number;
  /** Keep this map between loads: an entry that is unchanged, its code included, is then the same object again. */
  readonly known?: KnownModules;
}

/** Modules of earlier loads, by a key that covers everything they depend on. */
export type KnownModules = Map<string, LoadedModule>;

const DEFAULT_POOL = 'default';
/** Long enough for a busy machine: a module whose import times out is missing until its file is changed. */
const IMPORT_TIMEOUT_MS = 20_000;
const MAX_CHILDREN = 4;
const MODULES_PER_CHILD = 16;

/**
 * Loads every module a folder or manifest names; each ends up in exactly one of the two lists. Module code runs in a child
 * process only. Throws MODULES_MISSING when the folder or manifest itself cannot be read.
 */
export async function loadModules(path: string, options: LoadOptions = {}): Promise<LoadResult> {
  const { importTimeoutMs = IMPORT_TIMEOUT_MS, known = new Map<string, LoadedModule>() } = options;
  const { entries, manifest } = await findModules(path);
  const generationOf = createGenerations(new Set(entries.map((entry) => entry.file)), manifest);
  const twins = new Map([...known.values()].map((module) => [codeOf(module), module]));
  const needs = { generationOf, known, twins, pool: poolOfUnnamed(entries, options.pool) };
  const loaded = await loadEntries(entries, importTimeoutMs, needs);
  const used = new Set(loaded.map((one) => one.key));
  for (const key of known.keys()) if (!used.has(key)) known.delete(key);
  return deepFreeze(refuseConfusable(loaded));
}

/**
 * The pool of modules that name none. Workers of several pools share a manifest that names pools. An entry without a pool must be in the same
 * pool for all of them; otherwise each of them would take it along into its own.
 */
function poolOfUnnamed(entries: readonly ModuleEntry[], ofWorker: string = DEFAULT_POOL): string {
  return entries.some(({ pool }) => pool !== undefined) ? DEFAULT_POOL : ofWorker;
}

interface Loaded {
  readonly key: string | undefined;
  readonly result: LoadedModule | BrokenEntry;
}

interface Needs {
  readonly describer: Describer;
  readonly generationOf: (file: string) => Promise<Generation>;
  readonly known: KnownModules;
  /** One loaded setup for each module code. Other setups of the same code share its schemas. */
  readonly twins: Map<string, LoadedModule>;
  readonly pool: string;
}

/** Several child processes share the entries; for few entries one is enough. */
async function loadEntries(
  entries: readonly ModuleEntry[],
  importTimeoutMs: number,
  needs: Omit<Needs, 'describer'>,
): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  const waiting = [...entries.entries()].toReversed();
  const loadWaiting = async (): Promise<void> => {
    const describer = createDescriber({ importTimeoutMs });
    try {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [index, entry] = next;
        loaded[index] = await loadEntry(entry, { ...needs, describer });
      }
    } finally {
      waiting.length = 0;
      await describer.close();
    }
  };
  const children = Math.min(availableParallelism(), MAX_CHILDREN, Math.ceil(entries.length / MODULES_PER_CHILD));
  const ended = await Promise.allSettled(Array.from({ length: children }, loadWaiting));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return loaded;
}

async function loadEntry(entry: ModuleEntry, needs: Needs): Promise<Loaded> {
  const { file, setup } = entry;
  let found: Generation;
  try {
    found = await needs.generationOf(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const reason = code === 'ENOENT' ? 'The file does not exist.' : `The file cannot be read (${code}).`;
    return { key: undefined, result: reportBroken(entry, reason) };
  }
  const generation = found.name;
  const { id = null, pool = needs.pool, runner = null } = entry;
  const key = canonicalJson([file, generation, id, setup, pool, entry.pool !== undefined, runner]);
  const known = needs.known.get(key);
  if (known !== undefined) return { key, result: known };
  const asked = { file, generation, setup, ...(entry.id === undefined ? {} : { id: entry.id }) };
  const description = await needs.describer.describe(asked);
  if (description.kind === 'broken') return { key, result: reportBroken(entry, description.reason, description.id) };
  const read = readDescription(description.json, entry, needs.pool);
  if (read.kind === 'problem') return { key, result: reportBroken(entry, read.problem) };
  const own: LoadedModule = { ...read.module, file, generation, setup };
  const twin = needs.twins.get(codeOf(own));
  const result = twin === undefined ? own : { ...own, declaration: shareSchemas(own.declaration, twin.declaration) };
  needs.twins.set(codeOf(own), twin ?? result);
  needs.known.set(key, result);
  // Inline modules stay in memory once they are imported. Child processes import again and again, so they need the sources.
  if (result.runner !== 'inline') keepSources(result, found.sources);
  return { key, result };
}

function codeOf({ file, generation }: Pick<LoadedModule, 'file' | 'generation'>): string {
  return `${generation} ${file}`;
}

function reportBroken(entry: ModuleEntry, reason: string, told?: string): BrokenEntry {
  const named = entry.id === undefined ? {} : ({ named: true } as const);
  return { id: guessId(entry, told), file: entry.file, reason, ...named };
}

function guessId(entry: ModuleEntry, told?: string): string {
  const name = basename(entry.file, extname(entry.file));
  const guess = entry.id ?? told ?? (name === 'index' ? basename(dirname(entry.file)) : name);
  return NAME_PATTERN.test(guess) ? guess : JSON.stringify(guess.slice(0, 64));
}

/** If a reader could take two modules for each other, only the first is served. */
function refuseConfusable(loaded: readonly Loaded[]): LoadResult {
  const modules: LoadedModule[] = [];
  const broken: BrokenEntry[] = [];
  const taken = new TakenNames();
  for (const { result } of loaded) {
    if (!('declaration' in result)) {
      broken.push(result);
      continue;
    }
    const { id } = result.declaration;
    const clash = taken.findConfusable(id);
    if (clash === undefined) {
      taken.take(id);
      modules.push(result);
    } else {
      const reason =
        clash.how === 'the same'
          ? `Another module already has the id "${id}".`
          : `Its id "${id}" is easily confused with "${clash.with}".`;
      broken.push({ id, file: result.file, reason });
    }
  }
  modules.sort((a, b) => (a.declaration.id < b.declaration.id ? -1 : 1));
  return { modules, broken };
}
