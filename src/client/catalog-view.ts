import { EMPTY_CATALOG, indexTools, type Catalog, type PublishedTool } from '../domain/tool/catalog.ts';
import type { ToolId } from '../domain/identity/ids.ts';
import type { CatalogReader, CatalogWatch } from '../domain/ports/catalog-store.ts';
import { deepFreeze } from '../base/deep-freeze.ts';
import { shareNext } from '../domain/call/share-next.ts';
import { pause } from '../base/pause.ts';

/** The catalog as this process last read it. */
export interface CatalogView {
  /** Looks in the cached view only. Undefined also when the view is older than `MAX_AGE_MS`, because the tool may have been withdrawn. */
  known(tool: string): PublishedTool | undefined;
  /** Looks in the cached view. If that is older than `MAX_AGE_MS`, asks the store first whether the catalog changed. */
  find(tool: string): Promise<PublishedTool | undefined>;
  refresh(): Promise<Catalog>;
  /** The current catalog; its content is read only if its sequence changed. */
  current(): Promise<Catalog>;
  watch(listener: (catalog: Catalog) => void): () => void;
  close(): void;
}

const WATCH_MS = 5000;
/**
 * Max age of the view that a call may use. A withdrawn tool is refused after this time at the latest. A caller that keeps naming a
 * nonexistent tool causes at most one store read per this time.
 */
const MAX_AGE_MS = 1000;
/**
 * At this age the view is checked in the background, so that a busy caller does not wait for the store. Each check is one small request.
 */
const CHECK_AFTER_MS = 500;

export function createCatalogView(store: CatalogReader & CatalogWatch): CatalogView {
  let catalog: Catalog = EMPTY_CATALOG;
  let tools: ReadonlyMap<ToolId, PublishedTool> = new Map();
  let reading: Promise<Catalog> | undefined;
  let checking: Promise<Catalog> | undefined;
  /** Start time of the latest read that the store answered. */
  let readAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  function take(next: Catalog): Catalog {
    // The same sequence means the same content. Then keep the same object, so that values derived from it stay cached.
    if (next.sequence > catalog.sequence) {
      catalog = deepFreeze(next);
      tools = indexTools(next);
    }
    return catalog;
  }

  async function timed(read: () => Promise<Catalog | undefined>): Promise<Catalog> {
    const startedAt = performance.now();
    const next = await read();
    readAt = Math.max(readAt, startedAt);
    return next === undefined ? catalog : take(next);
  }

  /** Callers that arrive while a read is in progress share it. */
  function refresh(): Promise<Catalog> {
    reading ??= timed(() => store.readCatalog()).finally(() => (reading = undefined));
    return reading;
  }

  const readIfChanged = (): Promise<Catalog> => timed(() => store.watchCatalog({ after: catalog.sequence, waitMs: 0 }));
  const current = shareNext(readIfChanged);

  /** Shared like `refresh`, but the content is read only if the sequence changed. */
  function check(): Promise<Catalog> {
    checking ??= readIfChanged().finally(() => (checking = undefined));
    return checking;
  }

  return {
    refresh,
    current,
    known(tool) {
      const ageMs = performance.now() - readAt;
      if (ageMs > MAX_AGE_MS) return undefined;
      // If this check fails, the view grows too old, and the next caller gets the store's error.
      if (ageMs > CHECK_AFTER_MS) void check().catch(() => undefined);
      return tools.get(tool as ToolId);
    },
    async find(tool) {
      if (performance.now() - readAt > MAX_AGE_MS) await (catalog === EMPTY_CATALOG ? refresh() : check());
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
