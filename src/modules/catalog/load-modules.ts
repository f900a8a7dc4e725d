import { availableParallelism } from 'node:os';
import { basename, dirname, extname } from 'node:path';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { TakenNames, type Confusable } from './confusable-names.ts';
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
  /** Pass the same map to each load. An entry whose setup and code are unchanged is then the same object again. */
  readonly known?: KnownModules;
  /** Returns the published ids. They take precedence: a new module whose id a reader could confuse with one of them is refused. */
  readonly established?: () => Promise<readonly string[]>;
}

/** Modules of earlier loads, by a key that covers everything they depend on. */
export type KnownModules = Map<string, LoadedModule>;

const DEFAULT_POOL = 'default';
/** Long enough for a busy machine. A module whose import times out is not served until its file is changed. */
const IMPORT_TIMEOUT_MS = 20_000;
const MAX_CHILDREN = 4;
const MODULES_PER_CHILD = 16;

/**
 * Loads every module that a folder or manifest names. Each one is either in `modules` or in `broken` of the result. Module code runs only
 * in a child process. Throws MODULES_MISSING if the folder or manifest itself cannot be read.
 */
export async function loadModules(path: string, options: LoadOptions = {}): Promise<LoadResult> {
  const { importTimeoutMs = IMPORT_TIMEOUT_MS, known = new Map<string, LoadedModule>() } = options;
  const { entries, manifest } = await findModules(path);
  const generationOf = createGenerations(new Set(entries.map((entry) => entry.file)), manifest);
  const loadedByCode = new Map([...known.values()].map((module) => [codeOf(module), module]));
  const needs = { generationOf, known, loadedByCode, pool: poolOfUnnamed(entries, options.pool) };
  const loaded = await loadEntries(entries, importTimeoutMs, needs);
  const used = new Set(loaded.map((one) => one.key));
  for (const key of known.keys()) if (!used.has(key)) known.delete(key);
  return deepFreeze(refuseConfusable(loaded, (await options.established?.()) ?? []));
}

/**
 * The pool of modules that name none. A manifest that names pools is shared by workers of several pools. For all of them, an entry without
 * a pool must be in the same pool; otherwise each worker would serve it in its own pool.
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
  /** One already loaded module for each module code. Other setups of the same code share its schemas. */
  readonly loadedByCode: Map<string, LoadedModule>;
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
  const loaded = needs.loadedByCode.get(codeOf(own));
  const result =
    loaded === undefined ? own : { ...own, declaration: shareSchemas(own.declaration, loaded.declaration) };
  needs.loadedByCode.set(codeOf(own), loaded ?? result);
  needs.known.set(key, result);
  // The process keeps inline modules in memory once they are imported. Child processes import the code again and again, so the sources are
  // kept for them.
  if (result.runner !== 'inline') keepSources(result, found.sources);
  return { key, result };
}

function codeOf({ file, generation }: Pick<LoadedModule, 'file' | 'generation'>): string {
  return `${generation} ${file}`;
}

function reportBroken(entry: ModuleEntry, reason: string, describedId?: string): BrokenEntry {
  const named = entry.id === undefined ? {} : ({ named: true } as const);
  return { id: guessId(entry, describedId), file: entry.file, reason, ...named };
}

function guessId(entry: ModuleEntry, describedId?: string): string {
  const name = basename(entry.file, extname(entry.file));
  const guess = entry.id ?? describedId ?? (name === 'index' ? basename(dirname(entry.file)) : name);
  return NAME_PATTERN.test(guess) ? guess : JSON.stringify(guess.slice(0, 64));
}

/**
 * If a reader could take two modules for each other, only one is served: the published one, or else the first. A new module that resembles a
 * published one is refused also if that one is not in this load: another worker may serve it.
 */
function refuseConfusable(loaded: readonly Loaded[], established: readonly string[]): LoadResult {
  const found = loaded.flatMap(({ result }) => ('declaration' in result ? [result] : []));
  const isEstablished = ({ declaration }: LoadedModule): boolean => published.has(declaration.id);
  const published = new TakenNames(established);
  const taken = new TakenNames();
  const reasons = new Map<LoadedModule, string>();
  for (const module of [...found.filter(isEstablished), ...found.filter((one) => !isEstablished(one))]) {
    const { id } = module.declaration;
    const clash = taken.findConfusable(id) ?? (published.has(id) ? undefined : published.findConfusable(id));
    if (clash === undefined) taken.take(id);
    else reasons.set(module, describeClash(id, clash, published));
  }
  const modules = found.filter((module) => !reasons.has(module));
  modules.sort((a, b) => (a.declaration.id < b.declaration.id ? -1 : 1));
  const broken = loaded.flatMap(({ result }): BrokenEntry[] => {
    if (!('declaration' in result)) return [result];
    const reason = reasons.get(result);
    return reason === undefined ? [] : [{ id: result.declaration.id, file: result.file, reason }];
  });
  return { modules, broken };
}

function describeClash(id: string, clash: Confusable, published: TakenNames): string {
  if (clash.how === 'the same') return `Another module already has the id "${id}".`;
  return published.has(clash.with)
    ? confusedWithPublished(id, clash.with)
    : `Its id "${id}" is easily confused with "${clash.with}".`;
}

/** Why a new module is refused, and what its author or operator can do. */
export function confusedWithPublished(id: string, published: string): string {
  return (
    `Its id "${id}" is easily confused with "${published}", which is published. Give it another id; ` +
    `or, if no worker serves the other one any more, take that out: sallyport catalog withdraw ${published}, and load this one again.`
  );
}
