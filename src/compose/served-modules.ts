import { importModule } from '../authoring/import-module.ts';
import { loadModules } from '../catalog/load-modules.ts';
import type { LoadResult } from '../catalog/loaded-module.ts';
import { publishModules, type PublishRequest } from '../catalog/publish-catalog.ts';
import { createToolIndex, type ToolIndex } from '../catalog/tool-index.ts';
import { createValidatorCache } from '../catalog/validate-arguments.ts';
import { watchModules, type ModuleWatch } from '../catalog/watch-modules.ts';
import type { CatalogStore } from '../ports/catalog-store.ts';
import type { WorkerEntry } from '../ports/fleet-registry.ts';
import type { Log } from '../ports/log.ts';

/** The modules of one worker: loaded, published, and loaded again when their files change. */
export interface ServedModules {
  readonly loaded: LoadResult;
  readonly index: ToolIndex;
  /** For the fleet; the same object until a reload. */
  readonly served: Pick<WorkerEntry, 'modules' | 'toolDigests' | 'broken'>;
  publish(store: CatalogStore): Promise<void>;
  /** From now on changes are taken over; `onChange` hears of each after it was published. */
  watch(store: CatalogStore, onChange: () => Promise<void>): Promise<ModuleWatch>;
}

export async function loadServedModules(path: string, pool: string, log: Log): Promise<ServedModules> {
  const loadOptions = { pool, known: new Map() };
  const validators = createValidatorCache();
  const first = await loadModules(path, loadOptions);
  let loaded = onlyOfPool(first, pool);
  await importInline(loaded);
  let index = createToolIndex(loaded.modules, validators);
  let served = servedBy(loaded, index);

  async function publish(store: CatalogStore, gone: PublishRequest['gone'] = []): Promise<void> {
    const modules = loaded.modules.map(({ declaration }) => declaration);
    const published = await publishModules(store, { modules, gone, broken: loaded.broken });
    log.info({ modules: modules.length, broken: loaded.broken.length, ...published }, 'catalog published');
  }

  async function takeOver(next: LoadResult, store: CatalogStore): Promise<void> {
    const before = loaded.modules.map(({ declaration }) => declaration);
    await importInline(next);
    loaded = next;
    index = createToolIndex(next.modules, validators);
    served = servedBy(next, index);
    const now = new Set(next.modules.map(({ declaration }) => declaration.id));
    await publish(
      store,
      before.filter(({ id }) => !now.has(id)),
    );
    for (const broken of next.broken) log.error(broken, 'module not loaded; the others are served');
  }

  return {
    get loaded() {
      return loaded;
    },
    get index() {
      return index;
    },
    get served() {
      return served;
    },
    publish: (store) => publish(store),
    async watch(store, onChange) {
      const watcher = watchModules(path, {
        ...loadOptions,
        current: first,
        async onReload(result) {
          await takeOver(onlyOfPool(result, pool), store);
          await onChange();
        },
        onTrouble: (error) => log.error({ error }, 'modules not reloaded; the old ones are served on'),
      });
      await watcher.ready;
      return watcher;
    },
  };
}

function onlyOfPool({ modules, broken }: LoadResult, pool: string): LoadResult {
  return { modules: modules.filter(({ declaration }) => declaration.pool === pool), broken };
}

function servedBy({ modules, broken }: LoadResult, { toolDigests }: ToolIndex): ServedModules['served'] {
  return {
    modules: modules.map(({ declaration: { id, digest } }) => ({ id, digest })),
    toolDigests,
    broken: broken.map(({ id, file, reason }) => ({ id, file, reason })),
  };
}

/** Imported before they are served: a first call does not pay for it, and a module that is kept needs its file no more. */
async function importInline({ modules }: LoadResult): Promise<void> {
  const inline = modules.filter(({ runner }) => runner === 'inline');
  await Promise.all(inline.map(({ file, generation }) => importModule({ file, generation })));
}
