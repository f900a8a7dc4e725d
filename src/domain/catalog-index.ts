import { indexTools, type Catalog, type PublishedTool } from './catalog.ts';

export interface IndexedModule {
  readonly id: string;
  /** Where it stands in the order of the tools' ids. */
  readonly place: number;
  /** In the order of their ids. */
  readonly tools: readonly PublishedTool[];
  /** By the name within the module. */
  readonly byName: ReadonlyMap<string, PublishedTool>;
}

export interface CatalogIndex {
  /** All tools, in the order of their ids. */
  readonly tools: readonly PublishedTool[];
  /** In the order of their tools' ids. */
  readonly modules: readonly IndexedModule[];
  readonly byId: ReadonlyMap<string, IndexedModule>;
}

/** Depends on the catalog and on nothing else, so all agents share it. A catalog never changes; a new one is another object. */
const indexes = new WeakMap<Catalog, CatalogIndex>();

export function indexCatalog(catalog: Catalog): CatalogIndex {
  let index = indexes.get(catalog);
  if (index === undefined) indexes.set(catalog, (index = makeIndex(catalog)));
  return index;
}

function makeIndex(catalog: Catalog): CatalogIndex {
  const byModule = new Map<string, PublishedTool[]>(catalog.modules.map(({ id }) => [id, []]));
  for (const published of indexTools(catalog).values())
    byModule.get(published.module.id)!.push(Object.freeze(published));
  // With the dot: `a-b.x` stands before `a.x`, though `a` stands before `a-b`.
  const ids = [...byModule.keys()].sort((a, b) => compareText(`${a}.`, `${b}.`));
  const modules = ids.map((id, place): IndexedModule => {
    const tools = byModule.get(id)!.sort((a, b) => compareText(a.tool.id, b.tool.id));
    const byName = new Map(tools.map((published) => [published.tool.id.slice(id.length + 1), published]));
    return Object.freeze({ id, place, tools: Object.freeze(tools), byName });
  });
  return Object.freeze({
    tools: Object.freeze(modules.flatMap(({ tools }) => tools)),
    modules: Object.freeze(modules),
    byId: new Map(modules.map((module) => [module.id, module])),
  });
}

/** By code units: the same on every machine and in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
