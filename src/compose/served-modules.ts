import { importModule } from '../authoring/import-module.ts';
import { loadModules } from '../catalog/load-modules.ts';
import type { LoadedModule, LoadResult } from '../catalog/loaded-module.ts';
import type { KeptPublication } from '../catalog/keep-published.ts';
import type { PublishRequest } from '../catalog/publish-catalog.ts';
import { createToolIndex, type ToolIndex } from '../catalog/tool-index.ts';
import { createValidatorCache } from '../catalog/validate-arguments.ts';
import { watchModules, type ModuleWatch } from '../catalog/watch-modules.ts';
import type { ToolDeclaration } from '../domain/tool.ts';
import { entriesOf, type ModuleDeclaration } from '../domain/module.ts';
import type { WorkerEntry } from '../ports/fleet-registry.ts';
import type { Log } from '../ports/log.ts';

/** The modules of one worker: loaded, published, and loaded again when their files change. */
export interface ServedModules {
  /** All that was found at the start, whoever serves it. */
  readonly found: LoadResult;
  readonly loaded: LoadResult;
  readonly index: ToolIndex;
  /** For the fleet; the same object until a reload. */
  readonly served: Pick<WorkerEntry, 'modules' | 'toolDigests' | 'broken'>;
  /** Whether this tool is among them, and has its place here. */
  serves(tool: string): boolean;
  publish(publication: KeptPublication): Promise<void>;
  /** From now on changes are taken over. */
  watch(publication: KeptPublication, hooks: ReloadHooks): Promise<ModuleWatch>;
}

export interface ReloadHooks {
  /** Runs after each reload, before what changed is published. */
  readonly onChange: () => Promise<void>;
  /** Takes modules whose files are gone out of the catalog, with an audit record. Absent: they are removed without one. */
  readonly withdraw?: ((gone: readonly ModuleDeclaration[]) => Promise<void>) | undefined;
}

export interface ModulePlace {
  /** For modules that name none. A fleet worker serves those of this pool. */
  readonly pool: string;
  /** `caller`: the pinned tools, of whatever pool their modules are. Absent: all others. */
  readonly placement: ToolDeclaration['pinned'];
  /** Modules of the plane itself, served beside the others. */
  readonly builtIn?: readonly LoadedModule[];
}

/** `admit` sees what was found, and says what of it can be served. */
export async function loadServedModules(
  path: string,
  place: ModulePlace,
  log: Log,
  admit: (found: LoadResult) => Promise<LoadResult>,
): Promise<ServedModules> {
  const loadOptions = { pool: place.pool, known: new Map() };
  const validators = createValidatorCache();
  const first = await loadModules(path, loadOptions);
  let loaded = await admit(withBuiltIn(onlyOfPlace(first, place), place, log));
  await importInline(loaded, place);
  let index = createToolIndex(loaded.modules, validators);
  let served = servedBy(loaded, place);

  async function publish(publication: KeptPublication, gone: PublishRequest['gone'] = []): Promise<void> {
    const modules = loaded.modules.map(({ declaration }) => declaration);
    await publication.publish({ modules, gone, broken: loaded.broken });
  }

  async function takeOver(
    next: LoadResult,
    publication: KeptPublication,
    { onChange, withdraw }: ReloadHooks,
  ): Promise<void> {
    const before = loaded.modules.map(({ declaration }) => declaration);
    await importInline(next, place);
    loaded = next;
    index = createToolIndex(next.modules, validators);
    served = servedBy(next, place);
    await onChange();
    // A module that is broken now is still served as it was.
    const now = new Set([...next.modules.map(({ declaration }) => declaration), ...next.broken].map(({ id }) => id));
    const gone = before.filter(({ id }) => !now.has(id));
    await publish(publication, withdraw === undefined ? gone : []);
    if (gone.length > 0) await withdraw?.(gone);
    for (const broken of next.broken) log.error(broken, 'module not loaded; the others are served');
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
    async watch(publication, hooks) {
      const watcher = watchModules(path, {
        ...loadOptions,
        current: first,
        async onReload(result) {
          await takeOver(await admit(withBuiltIn(onlyOfPlace(result, place), place, log)), publication, hooks);
        },
        onTrouble: (error) => log.error({ error }, 'modules not reloaded; the old ones are served on'),
      });
      await watcher.ready;
      return watcher;
    },
  };
}

/** Both kinds of tools may be in one module: it is published whole, by whoever serves a part of it. */
function onlyOfPlace({ modules, broken }: LoadResult, { pool, placement }: ModulePlace): LoadResult {
  const isHere = ({ declaration }: LoadedModule): boolean =>
    placement === undefined ? declaration.pool === pool : declaration.tools.some((tool) => tool.pinned === placement);
  return { modules: modules.filter(isHere), broken };
}

/** A module of the operator's own with such a name is served instead. */
function withBuiltIn({ modules, broken }: LoadResult, { builtIn = [] }: ModulePlace, log: Log): LoadResult {
  const own = new Set(modules.map(({ declaration }) => declaration.id));
  const added = builtIn.filter(({ declaration: { id } }) => {
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

/** Imported before they are served: a first call does not pay for it, and a module that is kept needs its file no more. */
async function importInline({ modules }: LoadResult, { placement }: ModulePlace): Promise<void> {
  const inline = modules.filter(
    ({ runner, builtIn, declaration }) =>
      runner === 'inline' && builtIn === undefined && entriesOf(declaration).some(({ pinned }) => pinned === placement),
  );
  // One after the other: what one module imports cannot be required by another one before it is loaded.
  for (const { file, generation } of inline) await importModule({ file, generation });
}
