import type { Catalog, PublishedTool } from './catalog.ts';
import type { ModuleDeclaration } from './module.ts';

/** One module of a catalog. Its tools are indexed on first use. */
export class IndexedModule {
  readonly id: string;
  /** The module's position in the order of the tools' ids. */
  readonly place: number;
  readonly #declarations: readonly ModuleDeclaration[];
  #tools: readonly PublishedTool[] | undefined;
  #surfaces: readonly PublishedTool[] | undefined;
  #byName: ReadonlyMap<string, PublishedTool> | undefined;

  constructor(declarations: readonly ModuleDeclaration[], place: number) {
    this.id = declarations[0]!.id;
    this.place = place;
    this.#declarations = declarations;
  }

  /** The module's tools, in the order of their ids. */
  get tools(): readonly PublishedTool[] {
    return (this.#tools ??= Object.freeze(
      this.#declarations
        .flatMap((module) => module.tools.map((tool): PublishedTool => Object.freeze({ tool, module })))
        .sort((a, b) => compareText(a.tool.id, b.tool.id)),
    ));
  }

  /** Resources and prompts, in the order of their ids. */
  get surfaces(): readonly PublishedTool[] {
    return (this.#surfaces ??= Object.freeze(
      this.#declarations
        .flatMap((module) => (module.surfaces ?? []).map((tool): PublishedTool => Object.freeze({ tool, module })))
        .sort((a, b) => compareText(a.tool.id, b.tool.id)),
    ));
  }

  /** Finds a tool by its name within the module. */
  find(name: string): PublishedTool | undefined {
    this.#byName ??= new Map(this.tools.map((published) => [published.tool.id.slice(this.id.length + 1), published]));
    return this.#byName.get(name);
  }
}

export class CatalogIndex {
  /** All modules, in the order of their tools' ids. */
  readonly modules: readonly IndexedModule[];
  readonly #byId: ReadonlyMap<string, IndexedModule>;
  #tools: readonly PublishedTool[] | undefined;

  constructor({ modules }: Catalog) {
    const byId = new Map<string, ModuleDeclaration[]>();
    for (const module of modules) byId.set(module.id, [...(byId.get(module.id) ?? []), module]);
    // Module ids are compared with the dot: `a-b.x` sorts before `a.x`, although `a` sorts before `a-b`.
    const ids = [...byId.keys()].sort((a, b) => compareText(`${a}.`, `${b}.`));
    this.modules = Object.freeze(ids.map((id, place) => new IndexedModule(byId.get(id)!, place)));
    this.#byId = new Map(this.modules.map((module) => [module.id, module]));
  }

  find(module: string): IndexedModule | undefined {
    return this.#byId.get(module);
  }

  /** All tools, in the order of their ids. */
  get tools(): readonly PublishedTool[] {
    return (this.#tools ??= Object.freeze(this.modules.flatMap(({ tools }) => tools)));
  }
}

/** One index per catalog. It depends on nothing else, so all agents share it. A catalog never changes; a new one is another object. */
const indexes = new WeakMap<Catalog, CatalogIndex>();

export function indexCatalog(catalog: Catalog): CatalogIndex {
  let index = indexes.get(catalog);
  if (index === undefined) indexes.set(catalog, (index = new CatalogIndex(catalog)));
  return index;
}

/** Compares by code units, so that the order is the same on every machine and in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
