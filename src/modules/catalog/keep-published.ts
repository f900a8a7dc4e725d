import { EMPTY_CATALOG, type Catalog } from '../../domain/tool/catalog.ts';
import { splitToolId, type ToolId } from '../../domain/identity/ids.ts';
import { entriesOf, type ModuleDeclaration } from '../../domain/tool/module.ts';
import type { CatalogPublishing, CatalogWatch } from '../../domain/ports/catalog-store.ts';
import type { FleetReader } from '../../domain/ports/fleet-registry.ts';
import type { Log } from '../../domain/ports/log.ts';
import { publishModules, type Published, type PublishRequest } from './publish-catalog.ts';

/** Keeps the modules of one worker in the catalog as long as the worker serves them and no other version takes precedence. */
export interface KeptPublication {
  /**
   * Modules of which the catalog keeps another version than this worker's, and modules that this worker last published in place of a higher
   * version. For the start screen.
   */
  readonly versions: Pick<Published, 'older' | 'rolledBack'>;
  /** Publishes the modules of this worker, after a start or a reload. Returns those that were refused. */
  publish(request: Pick<PublishRequest, 'modules' | 'gone' | 'broken'>): Promise<Published['refused']>;
  /**
   * Called with every heartbeat; costs one small read request. The published version of a module may have lost its last worker, or may have
   * replaced this worker's version while this worker started. If the catalog has another version, this worker tries to publish its own
   * version again.
   */
  check(): Promise<void>;
  /** The digest under which a tool is published now, by any worker. */
  publishedDigest(tool: ToolId): Promise<string | undefined>;
}

type Needs = CatalogPublishing & CatalogWatch & FleetReader;

export function keepPublished(store: Needs, log: Log): KeptPublication {
  let own: readonly ModuleDeclaration[] = [];
  let catalog: Catalog = EMPTY_CATALOG;
  let versions: KeptPublication['versions'] = { older: [], rolledBack: [] };
  let reported = '';

  /** Digests of the modules that live workers serve. A draining worker takes no more calls, so it does not count. */
  async function served(): Promise<ReadonlySet<string>> {
    const live = (await store.listWorkers()).filter(({ state }) => state !== 'draining');
    return new Set(live.flatMap(({ modules }) => modules.map(({ digest }) => digest)));
  }

  function reportChanges(published: Published): void {
    const { older, rolledBack } = published;
    versions = { older, rolledBack: rolledBack.length > 0 ? rolledBack : versions.rolledBack };
    const now = JSON.stringify([older, rolledBack]);
    if (now === reported) return;
    reported = now;
    for (const { id, version, published: other, pool } of older) {
      const facts = { module: id, version, published: other };
      if (pool === undefined) log.warn(facts, 'not published: live workers serve the published version');
      else log.warn({ ...facts, pool }, 'not published: live workers serve the module in another pool');
    }
    for (const { id, version, published: other } of rolledBack)
      log.warn({ module: id, version, replaced: other }, 'rolled back: no live worker serves the published version');
  }

  async function readCatalog(): Promise<Catalog> {
    catalog = (await store.watchCatalog({ after: catalog.sequence, waitMs: 0 })) ?? catalog;
    return catalog;
  }

  return {
    get versions() {
      return versions;
    },
    async publish(request) {
      own = request.modules;
      const published = await publishModules(store, { ...request, served });
      const facts = { modules: request.modules.length, broken: request.broken?.length ?? 0 };
      log.info({ ...facts, ...published }, 'catalog published');
      reportChanges(published);
      return published.refused;
    },
    async check() {
      const found = new Map((await readCatalog()).modules.map(({ id, digest }) => [id, digest]));
      // If a module is not published at all, another worker or an operator removed it, so it is not published again.
      const others = own.filter(({ id, digest }) => found.has(id) && found.get(id) !== digest);
      if (others.length === 0) versions = { ...versions, older: [] };
      else reportChanges(await publishModules(store, { modules: others, served, yieldsToEqual: true }));
    },
    async publishedDigest(tool) {
      const { modules } = await readCatalog();
      const module = modules.find(({ id }) => id === splitToolId(tool)?.module);
      return module && entriesOf(module).find(({ id }) => id === tool)?.digest;
    },
  };
}
