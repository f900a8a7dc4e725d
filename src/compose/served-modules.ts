import { existsSync } from 'node:fs';
import { importModule } from '../modules/authoring/import-module.ts';
import { describeThrown } from '../modules/catalog/describe-thrown.ts';
import { confusedWithPublished, loadModules } from '../modules/catalog/load-modules.ts';
import type { BrokenEntry, LoadedModule, LoadResult } from '../modules/catalog/loaded-module.ts';
import type { KeptPublication } from '../modules/catalog/keep-published.ts';
import type { PublishRequest, RefusedModule } from '../modules/catalog/publish-catalog.ts';
import { createToolIndex, type ToolIndex } from '../modules/catalog/tool-index.ts';
import { createValidatorCache } from '../modules/catalog/validate-arguments.ts';
import { keepServing, watchModules, type ModuleWatch } from '../modules/catalog/watch-modules.ts';
import type { ToolDeclaration } from '../domain/tool/tool.ts';
import { entriesOf, type ModuleDeclaration } from '../domain/tool/module.ts';
import type { WorkerEntry } from '../domain/ports/fleet-registry.ts';
import type { Log } from '../domain/ports/log.ts';

/** The modules of one worker: loaded, published, and loaded again when their files change. */
export interface ServedModules {
  /** All modules that were found at the start, including those that only other workers serve. */
  readonly found: LoadResult;
  readonly loaded: LoadResult;
  readonly index: ToolIndex;
  /** What this worker registers in the fleet. The same object until a reload. */
  readonly served: Pick<WorkerEntry, 'modules' | 'toolDigests' | 'broken'>;
  /** Whether the tool is loaded and belongs to the placement of this worker. */
  serves(tool: string): boolean;
  publish(publication: KeptPublication): Promise<void>;
  /** Serves what the modules without a file are now. To be called before the first publication. */
  readBuiltIn(): Promise<void>;
  /** Serves and publishes what the modules without a file are now. */
  refresh(publication: KeptPublication, hooks: ReloadHooks): Promise<void>;
  /** Starts to watch the module files. From then on changes are loaded and published. */
  watch(publication: KeptPublication, hooks: ReloadHooks): Promise<ModuleWatch>;
}

/** What a reload found. A module in which nothing changed is in neither list. */
export interface ModuleChanges {
  readonly added: readonly LoadedModule[];
  readonly changed: readonly LoadedModule[];
}

export function logChanges({ added, changed }: ModuleChanges, log: Log): void {
  for (const { declaration, file } of added) log.info({ module: declaration.id, file }, 'module added');
  for (const { declaration, file } of changed) log.info({ module: declaration.id, file }, 'module reloaded');
}

/** For a worker that serves MCP servers only: there are no files. */
const NO_WATCH: ModuleWatch = Object.freeze({
  ready: Promise.resolve(),
  reload: async () => undefined,
  close: async () => undefined,
});
const NO_MODULES: LoadResult = Object.freeze({ modules: [], broken: [] });

export interface ReloadHooks {
  /** Runs after each reload, before what changed is published. */
  readonly onChange: (changes: ModuleChanges) => Promise<void>;
  /** Removes modules whose files are gone from the catalog, with an audit record. Absent: they are removed without one. */
  readonly withdraw?: ((gone: readonly ModuleDeclaration[]) => Promise<void>) | undefined;
}

export interface ModulePlace {
  /** The pool of modules that name no pool. A fleet worker serves the modules of this pool. */
  readonly pool: string;
  /** `caller`: serve the pinned tools, whatever the pool of their modules. Undefined: serve all other tools. */
  readonly placement: ToolDeclaration['pinned'];
  /** Modules without a file, served in addition to the others. Read again at each reload and refresh. */
  readonly builtIn?: () => readonly LoadedModule[];
}

/**
 * Loads the modules of one worker. `published` reads the ids that are in the catalog. `admit` gets the modules that were found for the
 * worker, and returns them with those that cannot be served marked as broken.
 */
export async function loadServedModules(
  path: string | undefined,
  place: ModulePlace,
  log: Log,
  published: () => Promise<readonly string[]>,
  admit: (found: LoadResult) => Promise<LoadResult>,
): Promise<ServedModules> {
  // The ids in the catalog, as they were last read. If the store does not answer at a reload, the ids of the modules are compared with
  // these. Publishing compares them once more.
  let established: readonly string[] = [];
  const loadOptions = {
    pool: place.pool,
    known: new Map(),
    established: async () => (established = await published().catch(() => established)),
  };
  const validators = createValidatorCache();
  const first = path === undefined ? NO_MODULES : await loadModules(path, loadOptions);
  let loaded = await admit(withBuiltIn(onlyOfPlace(first, place), place, log));
  loaded = await importInline(loaded, undefined, place);
  let index = createToolIndex(loaded.modules, validators);
  let served = servedBy(loaded, place);
  let found = first;
  /** Reloads wait for each other. */
  let reloading: Promise<void> = Promise.resolve();

  function serve(next: LoadResult): void {
    loaded = next;
    index = createToolIndex(next.modules, validators);
    served = servedBy(next, place);
  }

  async function publish(publication: KeptPublication, gone: PublishRequest['gone'] = []): Promise<void> {
    const modules = loaded.modules.map(({ declaration }) => declaration);
    const refused = await publication.publish({ modules, gone, broken: loaded.broken });
    if (refused.length > 0) stopServing(refused);
  }

  /**
   * Marks modules as broken whose publication was refused: another worker published a module with a similar id at the same moment, and was
   * first.
   */
  function stopServing(refused: readonly RefusedModule[]): void {
    const reasons = new Map(refused.map((one) => [one.id, confusedWithPublished(one.id, one.published)]));
    const broken = loaded.modules.flatMap(({ file, declaration: { id } }) => {
      const reason = reasons.get(id);
      return reason === undefined ? [] : [{ id, file, reason }];
    });
    const modules = loaded.modules.filter(({ declaration }) => !reasons.has(declaration.id));
    loaded = { modules, broken: [...loaded.broken, ...broken] };
    index = createToolIndex(modules, validators);
    served = servedBy(loaded, place);
    for (const one of broken) log.error(one, 'module not loaded; the others are served');
  }

  async function takeOver(
    found: LoadResult,
    publication: KeptPublication,
    { onChange, withdraw }: ReloadHooks,
  ): Promise<void> {
    const old = loaded.modules;
    const before = old.map(({ declaration }) => declaration);
    const wasBroken = new Set(loaded.broken.map((one) => JSON.stringify(one)));
    const next = await importInline(found, loaded, place);
    serve(next);
    await onChange(findChanges(old, next.modules));
    // A module that cannot be loaded now is not gone: its previous version is still served.
    const now = new Set([...next.modules.map(({ declaration }) => declaration), ...next.broken].map(({ id }) => id));
    const gone = before.filter(({ id }) => !now.has(id));
    await publish(publication, withdraw === undefined ? gone : []);
    if (gone.length > 0) await withdraw?.(gone);
    for (const broken of next.broken.filter((one) => !wasBroken.has(JSON.stringify(one))))
      log.error(broken, 'module not loaded; the others are served');
  }

  function reload(result: LoadResult, publication: KeptPublication, hooks: ReloadHooks): Promise<void> {
    const next = reloading.then(async () => {
      found = result;
      await takeOver(await admit(withBuiltIn(onlyOfPlace(result, place), place, log)), publication, hooks);
    });
    reloading = next.catch(() => undefined);
    return next;
  }

  return {
    found: first,
    get loaded() {
      return loaded;
    },
    get index() {
      return index;
    },
    get served() {
      return served;
    },
    serves(tool) {
      const found = index.find(tool);
      return found !== undefined && found.declaration.pinned === place.placement;
    },
    publish: (publication) => publish(publication),
    async readBuiltIn() {
      serve(await admit(withBuiltIn(onlyOfPlace(first, place), place, log)));
    },
    refresh: (publication, hooks) => reload(found, publication, hooks),
    async watch(publication, hooks) {
      if (path === undefined) return NO_WATCH;
      const watcher = watchModules(path, {
        ...loadOptions,
        current: first,
        onReload: (result) => reload(result, publication, hooks),
        onError: (error) => log.error({ error }, 'modules not reloaded; the old ones are served on'),
      });
      await watcher.ready;
      return watcher;
    },
  };
}

/** A reload makes a new object only for a module in which something changed. */
function findChanges(old: readonly LoadedModule[], next: readonly LoadedModule[]): ModuleChanges {
  const before = new Map(old.map((module) => [module.declaration.id, module]));
  return {
    added: next.filter(({ declaration: { id } }) => !before.has(id)),
    changed: next.filter((module) => before.has(module.declaration.id) && before.get(module.declaration.id) !== module),
  };
}

/**
 * Keeps the modules that this worker serves at least in part. Pinned and other tools may
 * be in one module: each worker that serves a part of it publishes the whole module.
 */
function onlyOfPlace({ modules, broken }: LoadResult, { pool, placement }: ModulePlace): LoadResult {
  const isHere = ({ declaration }: LoadedModule): boolean =>
    placement === undefined ? declaration.pool === pool : declaration.tools.some((tool) => tool.pinned === placement);
  return { modules: modules.filter(isHere), broken };
}

/** Adds the built-in modules. If a module of the operator has the same name, that one is served instead. */
function withBuiltIn({ modules, broken }: LoadResult, { builtIn }: ModulePlace, log: Log): LoadResult {
  const own = new Set(modules.map(({ declaration }) => declaration.id));
  const added = (builtIn?.() ?? []).filter(({ declaration: { id } }) => {
    if (own.has(id)) log.warn({ module: id }, 'the built-in module is not served: another one has its name');
    return !own.has(id);
  });
  return { modules: [...modules, ...added], broken };
}

function servedBy({ modules, broken }: LoadResult, { placement }: ModulePlace): ServedModules['served'] {
  const tools = modules
    .flatMap(({ declaration }) => entriesOf(declaration))
    .filter(({ pinned }) => pinned === placement);
  return {
    modules: modules.map(({ declaration: { id, digest } }) => ({ id, digest })),
    toolDigests: tools.map(({ digest }) => digest),
    broken: broken.map(({ id, file, reason }) => ({ id, file, reason })),
  };
}

/**
 * Imports inline modules before they are served. The first call then does not wait for the import, and a loaded module no longer needs its
 * file. A module that cannot be imported is broken: if it was served before, its previous version is still served.
 */
async function importInline(
  { modules, broken }: LoadResult,
  before: LoadResult | undefined,
  { placement }: ModulePlace,
): Promise<LoadResult> {
  const inline = modules.filter(
    ({ runner, builtIn, declaration }) =>
      runner === 'inline' && builtIn === undefined && entriesOf(declaration).some(({ pinned }) => pinned === placement),
  );
  const failed = new Map<LoadedModule, BrokenEntry>();
  // Import one after another: while one module imports a file, another module cannot `require` that file until it is loaded.
  for (const module of inline) {
    const { file, generation, declaration } = module;
    try {
      await importModule({ file, generation });
    } catch (error) {
      const reason = existsSync(file) ? describeThrown(error, file) : 'The file does not exist.';
      failed.set(module, { id: declaration.id, file, reason, named: true });
    }
  }
  if (failed.size === 0) return { modules, broken };
  const next = { modules: modules.filter((module) => !failed.has(module)), broken: [...failed.values()] };
  const kept = before === undefined ? next : keepServing(before, next);
  return { modules: kept.modules, broken: [...broken, ...next.broken] };
}
