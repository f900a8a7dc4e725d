import { EMPTY_CATALOG, indexTools, type Catalog, type PublishedTool } from '../domain/tool/catalog.ts';
import type { ToolId } from '../domain/identity/ids.ts';
import type { CatalogReader, CatalogWatch } from '../domain/ports/catalog-store.ts';
import { deepFreeze } from '../base/deep-freeze.ts';
import { shareNext } from '../domain/call/share-next.ts';
import { pause } from '../base/pause.ts';

/** The catalog as this process last read it. */
export interface CatalogView {
  /** Looks in the cached view only. */
  known(tool: string): PublishedTool | undefined;
  /** Looks in the cached view first. For an unknown name it reads the catalog from the store again, because the tool may be new. */
  find(tool: string): Promise<PublishedTool | undefined>;
  refresh(): Promise<Catalog>;
  /** The current catalog; its content is read only if its sequence changed. */
  current(): Promise<Catalog>;
  watch(listener: (catalog: Catalog) => void): () => void;
  close(): void;
}

const WATCH_MS = 5000;
/** Min time between catalog reads for unknown tools. Without it, a caller that keeps naming a nonexistent tool would cause a store read each time. */
const UNKNOWN_FOR_MS = 1000;

export function createCatalogView(store: CatalogReader & CatalogWatch): CatalogView {
  let catalog: Catalog = EMPTY_CATALOG;
  let tools: ReadonlyMap<ToolId, PublishedTool> = new Map();
  let reading: Promise<Catalog> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  function take(next: Catalog): Catalog {
    // The same sequence means the same content. Keep the same object then, so that values derived from it stay cached.
    if (next.sequence > catalog.sequence) {
      catalog = deepFreeze(next);
      tools = indexTools(next);
    }
    return catalog;
  }

  /** Callers that arrive while a read is in progress share it. */
  function refresh(): Promise<Catalog> {
    reading ??= store
      .readCatalog()
      .then(take)
      .finally(() => {
        readAt = performance.now();
        reading = undefined;
      });
    return reading;
  }

  const current = shareNext(async () => {
    const next = await store.watchCatalog({ after: catalog.sequence, waitMs: 0 });
    return next === undefined ? catalog : take(next);
  });

  return {
    refresh,
    current,
    known: (tool) => tools.get(tool as ToolId),
    async find(tool) {
      const found = tools.get(tool as ToolId);
      if (found !== undefined) return found;
      if (performance.now() - readAt > UNKNOWN_FOR_MS) await refresh();
      return tools.get(tool as ToolId);
    },
    watch(listener) {
      let watching = true;
      const loop = async (): Promise<void> => {
        let after = -1;
        while (watching && !closed) {
          try {
            const next = await store.watchCatalog({ after, waitMs: WATCH_MS });
            if (next === undefined || !watching || closed) continue;
            after = next.sequence;
            listener(take(next));
          } catch {
            await pause(500);
          }
        }
      };
      void loop();
      return () => void (watching = false);
    },
    close: () => void (closed = true),
  };
}
